// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/catalogue/site_html.hpp"

#include <cmath>

#include "fiberloom/catalogue/selection.hpp"
#include "fiberloom/foundation.hpp"
#include "fiberloom/recipes/page_texts.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/print.hpp"
#include "loom/page/embedded.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::site {
namespace {

using page::escape_html;

std::string input(const http::Request& request, const char* name, const char* label,
                  const char* hint) {
  return std::string("<label>") + label + " <input type=\"text\" name=\"" + name +
         "\" autocomplete=\"off\" placeholder=\"" + hint + "\" value=\"" +
         escape_html(request.value(name)) + "\"></label>";
}

std::string option(const std::string& value, const std::string& chosen, const std::string& text) {
  return "<option value=\"" + escape_html(value) + "\"" + (value == chosen ? " selected" : "") +
         ">" + escape_html(text) + "</option>";
}

bool is_number(const db::Value& value) { return value.index() == 1 || value.index() == 2; }

std::string cell_html(const std::string& name, const db::Value& value) {
  const std::string text = escape_html(shown(value));
  if (name != "targetid" || text.empty()) return text;
  return "<a href=\"/target/" + text + "\">" + text + "</a>";
}

}  // namespace

Found find(db::Connection& connection, const db::Query& query, std::size_t most) {
  Found out;
  connection.read(query,
                  {.columns = [&](auto names) { out.names.assign(names.begin(), names.end()); },
                   .row =
                       [&](std::span<const db::Value> row) {
                         out.more = out.rows.size() == most;
                         if (!out.more) out.rows.emplace_back(row.begin(), row.end());
                         return !out.more;
                       }});
  return out;
}

std::string shown(const db::Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) {
    return std::isfinite(*number) ? print("%.9g", *number) : std::string();
  }
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

std::string table_html(const Found& found) {
  std::string out = "<div class=\"scroll\"><table class=\"list\"><thead><tr>";
  for (std::size_t i = 0; i < found.names.size(); ++i) {
    const bool number = !found.rows.empty() && is_number(found.rows[0][i]);
    out += (number ? "<th class=\"n\">" : "<th>") + escape_html(found.names[i]) + "</th>";
  }
  out += "</tr></thead><tbody>";
  for (const auto& row : found.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += is_number(row[i]) ? "<td class=\"n\">" : "<td>";
      out += cell_html(found.names[i], row[i]) + "</td>";
    }
    out += "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::string row_html(const Found& found) {
  if (found.rows.empty()) return "<p class=\"soft\">nothing</p>";
  std::string out = "<table class=\"list\"><tbody>";
  for (std::size_t i = 0; i < found.names.size(); ++i) {
    const std::string text = escape_html(shown(found.rows[0][i]));
    if (text.empty()) continue;
    out += "<tr><th>" + escape_html(found.names[i]) + "</th><td>" + text + "</td></tr>";
  }
  return out + "</tbody></table>";
}

std::string card_html(const std::string& title, const std::string& body) {
  return "<section class=\"card\"><h2>" + escape_html(title) + "</h2>" + body + "</section>";
}

std::string alert_html(const std::string& message) {
  return "<p class=\"card bad wrap\" role=\"alert\">" + escape_html(message) + "</p>";
}

std::string form_html(const http::Request& request) {
  std::string from, classes;
  const std::string chosen = request.value("from").empty() ? "zbest" : request.value("from");
  for (const std::string& name : catalogue::selectable()) from += option(name, chosen, name);
  for (const char* name : {"", "GALAXY", "QSO", "STAR"}) {
    classes += option(name, request.value("class"), *name == '\0' ? "all" : name);
  }
  return "<form class=\"ask\" method=\"get\" action=\"/\"><label>from <select name=\"from\">" +
         from + "</select></label>" + input(request, "cone", "cone", "RA,DEC,ARCSEC") +
         "<label>class <select name=\"class\">" + classes + "</select></label>" +
         input(request, "z", "z", "MIN,MAX") + input(request, "targetid", "TARGETID", "ID,ID") +
         input(request, "tileid", "tile", "ID,ID") +
         "<label><input type=\"checkbox\" name=\"good\" value=\"1\"" +
         (request.value("good").empty() ? "" : " checked") +
         "> ZWARN 0</label><button>show</button></form>";
}

std::string sql_form_html(const http::Request& request) {
  return "<form class=\"ask\" method=\"get\" action=\"/sql\"><textarea name=\"sql\" "
         "aria-label=\"SQL\" spellcheck=\"false\">" +
         escape_html(request.value("sql")) + "</textarea><button>ask</button></form>";
}

std::string link_with(const http::Request& request, const std::string& path,
                      const std::string& name, const std::string& value) {
  std::string out;
  for (const auto& [key, text] : request.query) {
    if (key == name || text.empty()) continue;
    out += (out.empty() ? "?" : "&") + http::escaped(key) + "=" + http::escaped(text);
  }
  if (!value.empty()) out += (out.empty() ? "?" : "&") + name + "=" + http::escaped(value);
  return escape_html(path + out);
}

std::string page_html(const std::string& title, const std::string& subtitle,
                      const std::string& body) {
  const std::string program = "fiberloom " + std::string(version());
  const std::string css =
      std::string(page::common_css()) + std::string(texts::catalogue_site_css());
  const std::string heading = escape_html(title), below = escape_html(subtitle);
  return page::fill(texts::catalogue_site_html(), {{"title", heading},
                                                   {"subtitle", below},
                                                   {"program", program},
                                                   {"css", css},
                                                   {"body", body}});
}

}  // namespace fiberloom::site
