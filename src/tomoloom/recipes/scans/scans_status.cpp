// SPDX-License-Identifier: BSD-3-Clause
// What a run over many scans shows of itself: numbers for programs, a plain page for people.
#include <map>

#include "loom/base/print.hpp"
#include "loom/batch/status_text.hpp"
#include "loom/json/json.hpp"
#include "loom/page/page.hpp"
#include "tomoloom/recipes/scans/many_scans.hpp"

namespace tomoloom::scans {
namespace {

constexpr std::size_t kShown = 5000;  // rows of the page; status.json has all

std::string scan_of(const StatusTask& task) {
  return std::get<std::string>(find_label(task.labels, "scan")->value);
}

Json scan_json(const StatusTask& task) {
  Json json = {{"name", task.name},
               {"scan", scan_of(task)},
               {"state", state_name(task.state)},
               {"seconds", rounded(task.seconds)},
               {"message", task.message},
               {"exit_code", task.exit_code},
               {"attempts", task.attempts},
               {"rank", task.rank}};
  for (const Measure& m : task.measures) json[m.name] = m.value;
  return json;
}

std::string row_of(const StatusTask& task) {
  std::string row = "<tr><td>" + page::escape_html(task.name) + "</td><td>" +
                    page::escape_html(state_name(task.state)) + "</td>";
  std::map<std::string, double> values;
  for (const Measure& m : task.measures) values[m.name] = m.value;
  row += values.empty() ? "<td></td><td></td>"
                        : print("<td>%.0f</td><td>%.2f</td>", values["slices"], values["axis"]);
  row += print("<td>%.1f</td><td>%d</td><td>", task.seconds, task.rank);
  return row + page::escape_html(task.message) + "</td></tr>\n";
}

constexpr std::string_view kPage = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{title}}</title>{{refresh}}
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{{css}}
body { max-width: 70rem; margin: 1rem auto; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #8884; }
td:nth-child(n+3):nth-child(-n+6) { text-align: right; font-variant-numeric: tabular-nums; }
</style></head><body><main><h1>{{title}}</h1>
<p>{{program}} on {{host}}: {{counts}}; {{rate}}</p><ul>{{warnings}}</ul>
<div><table><thead><tr><th>volume</th><th>state</th><th>slices</th><th>axis</th><th>seconds</th>
<th>rank</th><th>message</th></tr></thead><tbody>
{{rows}}</tbody></table></div></main></body></html>
)";

}  // namespace

std::string status_json(const RunStatus& s) {
  Json json = run_json(s, "tomoloom-recon-status-1");
  json["scans"] = Json::array();
  for (const StatusTask& task : s.tasks) json["scans"].push_back(scan_json(task));
  return json.dump(1, JsonText::kAscii) + "\n";
}

std::string status_html(const RunStatus& s) {
  std::string rows;
  for (std::size_t i = 0; i < s.tasks.size() && i < kShown; ++i) rows += row_of(s.tasks[i]);
  std::map<std::string, std::string> values = page_values(s);
  values["rate"] = print("%.3g scans a minute, %.0f s so far", s.tasks_per_minute, s.elapsed_s);
  values["rows"] = rows;
  return page::fill(kPage, {values.begin(), values.end()});
}

}  // namespace tomoloom::scans
