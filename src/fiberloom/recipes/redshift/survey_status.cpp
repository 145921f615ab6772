// SPDX-License-Identifier: BSD-3-Clause
// What a survey shows of itself: numbers for programs, a plain page for people.
#include <map>

#include "fiberloom/recipes/redshift/survey.hpp"
#include "loom/base/print.hpp"
#include "loom/batch/status_text.hpp"
#include "loom/json/json.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::survey {
namespace {

constexpr std::size_t kShown = 5000;  // rows of the page; status.json has all

double measure_of(const StatusTask& task, const std::string& name) {
  for (const Measure& m : task.measures) {
    if (m.name == name) return m.value;
  }
  return 0;
}

Json file_json(const StatusTask& task) {
  Json json = {{"name", task.name},
               {"spectra", std::get<std::string>(find_label(task.labels, "spectra")->value)},
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
  if (task.measures.empty()) {
    row += "<td></td><td></td>";
  } else {
    row += print("<td>%.0f</td><td>%.0f</td>", measure_of(task, "targets"),
                 measure_of(task, "zwarn_0"));
  }
  row += print("<td>%.1f</td><td>%d</td><td>", task.seconds, task.rank);
  return row + page::escape_html(task.message) + "</td></tr>\n";
}

constexpr std::string_view kPage = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{title}}</title>{{refresh}}
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{{css}}
body { max-width: 70rem; margin: 1rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #8884; }
td:nth-child(n+3):nth-child(-n+6) { text-align: right; font-variant-numeric: tabular-nums; }
</style></head><body><main><h1>{{title}}</h1>
<p>{{program}} on {{host}}: {{counts}}; {{rate}}</p><ul>{{warnings}}</ul>
<table><thead><tr><th>spectra</th><th>state</th><th>targets</th><th>ZWARN 0</th><th>seconds</th>
<th>rank</th><th>message</th></tr></thead><tbody>
{{rows}}</tbody></table></main></body></html>
)";

}  // namespace

std::string status_json(const RunStatus& s) {
  Json json = run_json(s, "fiberloom-redshift-status-1");
  json["files"] = Json::array();
  for (const StatusTask& task : s.tasks) json["files"].push_back(file_json(task));
  return json.dump(1, JsonText::kAscii) + "\n";
}

std::string status_html(const RunStatus& s) {
  std::string rows;
  for (std::size_t i = 0; i < s.tasks.size() && i < kShown; ++i) rows += row_of(s.tasks[i]);
  std::map<std::string, std::string> values = page_values(s);
  values["rate"] = print("%.3g files a minute, %.0f s so far", s.tasks_per_minute, s.elapsed_s);
  values["rows"] = rows;
  return page::fill(kPage, {values.begin(), values.end()});
}

}  // namespace fiberloom::survey
