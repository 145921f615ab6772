// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/catalogue/site.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include "fiberloom/catalogue/errors.hpp"
#include "fiberloom/catalogue/selection.hpp"
#include "fiberloom/recipes/catalogue/answer.hpp"
#include "fiberloom/recipes/catalogue/site_html.hpp"
#include "fiberloom/recipes/redshift_page/redshift_page.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

using catalogue::Catalogue;
using catalogue::Selection;
using http::Request;
using http::Response;

std::vector<std::string> site_words(const std::string& text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : text + ",") {
    if (c != ',' && c != ' ') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, {}));
    }
  }
  return out;
}

/// Throws kUsage for a name in the query that means nothing: without it more rows would be found.
void check_names(const Request& request) {
  constexpr std::string_view kNames[] = {"from",     "cone",   "z",    "class", "columns",
                                         "targetid", "tileid", "good", "skip",  "format"};
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(kNames, name) != std::end(kNames)) continue;
    std::string all;
    for (const std::string_view known : kNames) {
      all += (all.empty() ? "" : ", ") + std::string(known);
    }
    throw Error(Status::kUsage, name + "=" + value + ": expected names " + all);
  }
}

Selection asked_selection(const Request& request) {
  check_names(request);
  Selection s;
  if (const std::string from = request.value("from"); !from.empty()) s.from = from;
  if (const std::string cone = request.value("cone"); !cone.empty()) {
    s.cone = catalogue::parse_cone(cone);
  }
  if (const std::string z = request.value("z"); !z.empty()) catalogue::parse_z_range(z, s);
  s.classes = site_words(request.value("class"));
  s.columns = site_words(request.value("columns"));
  s.targetids = catalogue::parse_numbers("targetid", site_words(request.value("targetid")));
  s.tileids = catalogue::parse_numbers("tileid", site_words(request.value("tileid")));
  s.good = !request.value("good").empty();
  return s;
}

std::size_t skipped_rows(const Request& request) {
  const std::string text = request.value("skip");
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && *end == '\0' ? std::min<std::size_t>(value, 1U << 30) : 0;
}

Response site_page(int status, const std::string& title, const std::string& subtitle,
                   const std::string& body) {
  return {status, "text/html; charset=utf-8", site::page_html(title, subtitle, body), ""};
}

const char* const kWayBack = "<p><a href=\"/\">the catalogue</a></p>";

/// "/target/12": the whole numbers after a beginning; empty where it is none.
std::vector<std::int64_t> numbers_after(const std::string& path, std::string_view start) {
  std::vector<std::int64_t> out;
  if (!path.starts_with(start)) return out;
  const char* at = path.data() + start.size();
  const char* const end = path.data() + path.size();
  while (at < end) {
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && *next != '/')) return {};
    out.push_back(value);
    at = next == end ? end : next + 1;
  }
  return out;
}

}  // namespace

/// A connection for one request.
class CatalogueSite::Lent {
 public:
  explicit Lent(CatalogueSite& site) : site_(site) {
    {
      const std::lock_guard lock(site.mutex_);
      if (!site.idle_.empty()) {
        catalogue_ = std::move(site.idle_.back());
        site.idle_.pop_back();
        return;
      }
    }
    catalogue_ = std::make_unique<Catalogue>(
        site.options_.database, db::OpenOptions{db::Access::kRead, site.options_.wait_s});
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() {
    if (!catalogue_) return;
    const std::lock_guard lock(site_.mutex_);
    site_.idle_.push_back(std::move(catalogue_));
  }
  [[nodiscard]] db::Connection& connection() const { return catalogue_->connection(); }
  /// It is not used again, nor are the others, which the same has befallen.
  void drop() {
    catalogue_.reset();
    const std::lock_guard lock(site_.mutex_);
    site_.idle_.clear();
  }

 private:
  CatalogueSite& site_;
  std::unique_ptr<Catalogue> catalogue_;
};

CatalogueSite::CatalogueSite(SiteOptions options, Executor& executor, Observer observer)
    : options_(std::move(options)), executor_(executor), observer_(std::move(observer)) {
  catalogue::with_exit_codes([&] { const Lent probe(*this); });
}

CatalogueSite::~CatalogueSite() = default;

Response CatalogueSite::answer(const Request& request) {
  try {
    Lent lent(*this);
    try {
      return page_of(request, lent.connection());
    } catch (const db::Fault& fault) {
      const bool other =  // it has gone, or is another than it was
          fault.trouble() == db::Trouble::kGone || fault.trouble() == db::Trouble::kBusy;
      if (other) lent.drop();
      throw;
    }
  } catch (const db::Fault& fault) {
    const bool asked =
        fault.trouble() == db::Trouble::kStatement || fault.trouble() == db::Trouble::kTooLong;
    return site_page(asked ? 400 : 503, "No answer", "", site::alert_html(fault.what()) + kWayBack);
  } catch (const Error& error) {
    return site_page(error.status() == Status::kUsage ? 400 : 500, "No answer", "",
                     site::alert_html(error.what()) + kWayBack);
  }
}

Response CatalogueSite::page_of(const Request& request, db::Connection& connection) {
  if (request.path == "/") return front(request, connection);
  if (request.path == "/sql") return sql(request, connection);
  if (request.path == "/text") return text(request, connection);
  const auto of_target = numbers_after(request.path, "/target/");
  if (of_target.size() == 1) return target(of_target[0], connection);
  const auto of_spectrum = numbers_after(request.path, "/spectrum/");
  if (of_spectrum.size() == 2) return spectrum(of_spectrum[0], of_spectrum[1], connection);
  return site_page(404, "Not here", "",
                   site::alert_html(request.path + ": no such page") + kWayBack);
}

Response CatalogueSite::front(const Request& request, db::Connection& connection) {
  Selection selection = asked_selection(request);
  const std::size_t skip = skipped_rows(request);
  selection.limit = options_.rows_a_page + 1;  // one more tells whether there is a next page
  selection.skip = skip;
  db::Query query = catalogue::query_of(selection);
  query.seconds = options_.seconds;
  const site::Found found = site::find(connection, query, options_.rows_a_page);
  std::string body = "<section class=\"card\">" + site::form_html(request) + "</section>";
  std::string pages;
  if (skip > 0) {
    const std::size_t before = skip > options_.rows_a_page ? skip - options_.rows_a_page : 0;
    pages += "<a href=\"" +
             site::link_with(request, "/", "skip", before > 0 ? std::to_string(before) : "") +
             "\">before</a>";
  }
  if (found.more) {
    pages += "<a href=\"" +
             site::link_with(request, "/", "skip", std::to_string(skip + options_.rows_a_page)) +
             "\">more</a>";
  }
  for (const char* format : {"csv", "json"}) {
    pages += "<a href=\"" + site::link_with(request, "/text", "format", format) + "\">" + format +
             "</a>";
  }
  const std::string which = found.rows.empty() ? "no row"
                                               : "rows " + std::to_string(skip + 1) + " to " +
                                                     std::to_string(skip + found.rows.size());
  body += site::card_html(selection.from + ": " + which,
                          site::table_html(found) + "<nav class=\"pages\">" + pages + "</nav>");
  body += site::card_html("SQL", site::sql_form_html(request));
  return site_page(200, "Catalogue", connection.name(), body);
}

Response CatalogueSite::sql(const Request& request, db::Connection& connection) {
  const std::string statement = request.value("sql");
  std::string body = site::card_html("SQL", site::sql_form_html(request));
  int status = 200;
  try {
    const site::Found found = site::find(
        connection, {.sql = statement, .values = {}, .seconds = options_.seconds, .stop = {}},
        options_.most_rows);
    const std::string n = std::to_string(found.rows.size()) + " rows";
    body += site::card_html(found.more ? "the first " + n : n, site::table_html(found));
  } catch (const db::Fault& fault) {
    if (fault.trouble() == db::Trouble::kGone) throw;
    status = 400;
    body += site::alert_html(fault.what());
  }
  return site_page(status, "SQL", connection.name(), body + kWayBack);
}

Response CatalogueSite::text(const Request& request, db::Connection& connection) {
  db::Query query;
  if (const std::string statement = request.value("sql"); !statement.empty()) {
    query.sql = statement;
  } else {
    Selection selection = asked_selection(request);
    selection.limit = options_.most_rows + 1;  // one more tells that these are not all
    query = catalogue::query_of(selection);
  }
  query.seconds = options_.seconds;
  const std::string format = request.value("format");
  const bool json = format == "json";
  if (!json && !format.empty() && format != "csv") {
    throw Error(Status::kUsage, "format=" + format + ": expected csv or json");
  }
  Response out{200, json ? "application/json" : "text/csv; charset=utf-8", "", ""};
  const auto answer = answer_text(json ? AnswerFormat::kJson : AnswerFormat::kCsv,
                                  [&](std::string_view part) { out.body += part; });
  std::size_t rows = 0;
  connection.read(query, {.columns = [&](auto names) { answer->columns(names); },
                          .row =
                              [&](std::span<const db::Value> row) {
                                if (rows++ == options_.most_rows) return false;
                                answer->row(row);
                                return true;
                              }});
  if (rows > options_.most_rows) {  // a text has no place to say that it is not whole
    throw Error(Status::kUsage,
                "more than " + std::to_string(options_.most_rows) +
                    " rows: choose fewer, or fiberloom catalogue query, which writes them all");
  }
  answer->end();
  return out;
}

Response CatalogueSite::target(std::int64_t id, db::Connection& connection) {
  const auto ask = [&](const std::string& statement) {
    return site::find(connection,
                      {.sql = statement, .values = {id}, .seconds = options_.seconds, .stop = {}},
                      options_.rows_a_page);
  };
  const site::Found fits = ask(
      "SELECT groupid, z, zerr, zwarn, spectype, subtype, deltachi2, chi2, probability, survey, "
      "program, spgrp, spgrpval, tileid, healpix, petal, coadd_numexp, coadd_exptime, tsnr2_lrg "
      "FROM redshift WHERE targetid = $1 ORDER BY zrank DESC, spgrp, spgrpval, tileid");
  const site::Found place = ask("SELECT * FROM photometry WHERE targetid = $1");
  if (fits.rows.empty() && place.rows.empty()) {
    return site_page(
        404, "Not here", "",
        site::alert_html("no target " + std::to_string(id) + " in this catalogue") + kWayBack);
  }
  std::string links;
  for (const auto& row : fits.rows) {
    const std::string group = site::shown(row[0]);
    links += "<a href=\"/spectrum/" + group + "/" + std::to_string(id) + "\">spectrum of group " +
             group + "</a>";
  }
  std::string body = site::card_html(
      "Fits, the best first", site::table_html(fits) + "<nav class=\"pages\">" + links + "</nav>");
  body += site::card_html(
      "Candidates",
      site::table_html(ask("SELECT groupid, znum, z, zerr, zwarn, spectype, subtype, chi2, "
                           "deltachi2, probability FROM candidate WHERE targetid = $1 ORDER BY "
                           "groupid, znum")));
  body += site::card_html(
      "Fibres", site::table_html(ask("SELECT tileid, fiber, petal_loc, fiberstatus, objtype, "
                                     "target_ra, target_dec FROM fiberassign WHERE targetid = $1 "
                                     "ORDER BY tileid")));
  body += site::card_html("Photometry", site::row_html(place));
  body += site::card_html(
      "Files", site::table_html(ask("SELECT l.groupid, l.kind, l.path FROM location l WHERE "
                                    "l.groupid IN (SELECT groupid FROM redshift WHERE targetid = "
                                    "$1) ORDER BY l.groupid, l.kind")));
  return site_page(200, "Target " + std::to_string(id), connection.name(), body + kWayBack);
}

Response CatalogueSite::spectrum(std::int64_t group, std::int64_t id, db::Connection& connection) {
  const site::Found files =
      site::find(connection,
                 {.sql = "SELECT kind, path FROM location WHERE groupid = $1 ORDER BY kind",
                  .values = {group},
                  .seconds = options_.seconds,
                  .stop = {}},
                 100);
  redshift_page::PageInput input{"", {}, "-", "-"};
  for (const auto& row : files.rows) {
    const std::string kind = site::shown(row[0]), path = site::shown(row[1]);
    if (kind == "redshifts") input.redshifts = path;
    if (kind == "details") input.details = path;
    if (kind == "models") input.model = path;
    // sorted: a coadd comes before the spectra that it was made of
    if ((kind == "coadd" || kind == "spectra") && input.spectra.empty()) {
      input.spectra.push_back(path);
    }
  }
  if (input.redshifts.empty() || input.spectra.empty()) {
    return site_page(404, "Not here", "",
                     site::alert_html("the catalogue knows no file of spectra of group " +
                                      std::to_string(group)) +
                         kWayBack);
  }
  redshift_page::PageJob job;
  job.inputs = {redshift_page::with_neighbours(std::move(input))};
  job.target_ids = {id};
  const std::lock_guard lock(spectra_);
  return {200, "text/html; charset=utf-8",
          redshift_page::redshift_page_html(job, executor_, observer_), ""};
}

}  // namespace fiberloom
