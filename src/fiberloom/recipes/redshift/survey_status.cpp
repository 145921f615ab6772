// SPDX-License-Identifier: BSD-3-Clause
// What a survey shows of itself: numbers for programs, a plain page for people.
#include <cmath>
#include <map>

#include "fiberloom/recipes/redshift/survey.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/page/embedded.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::survey {
namespace {

constexpr std::size_t kShown = 5000;  // rows of the page; status.json has all

double rounded(double value) { return std::round(1000 * value) / 1000; }

std::map<std::string, std::size_t> count_states(const RunStatus& status) {
  std::map<std::string, std::size_t> counts;
  for (const StatusTask& task : status.tasks) ++counts[state_name(task.state)];
  return counts;
}

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
  Json json = {{"schema", "fiberloom-redshift-status-1"},
               {"title", s.title},
               {"program", s.program},
               {"host", s.host},
               {"started_unix_s", s.started_unix_s},
               {"updated_unix_s", s.updated_unix_s},
               {"finished", s.finished},
               {"ranks", s.ranks},
               {"threads", s.threads},
               {"elapsed_s", rounded(s.elapsed_s)},
               {"left_s", rounded(s.left_s)},
               {"bytes_in", s.bytes_in},
               {"bytes_out", s.bytes_out},
               {"memory_bytes", s.memory_bytes},
               {"warnings", s.warnings}};
  json["counts"] = Json::object();
  for (const auto& [name, n] : count_states(s)) json["counts"][name] = n;
  json["files"] = Json::array();
  for (const StatusTask& task : s.tasks) json["files"].push_back(file_json(task));
  return json.dump(1, JsonText::kAscii) + "\n";
}

std::string status_html(const RunStatus& s) {
  std::string counts, rows, warnings;
  for (const auto& [name, n] : count_states(s)) {
    counts += (counts.empty() ? "" : ", ") + std::to_string(n) + " " + name;
  }
  for (std::size_t i = 0; i < s.tasks.size() && i < kShown; ++i) rows += row_of(s.tasks[i]);
  for (const std::string& warning : s.warnings) {
    warnings += "<li>" + page::escape_html(warning) + "</li>";
  }
  const std::string rate =
      print("%.3g files a minute, %.0f s so far", s.tasks_per_minute, s.elapsed_s);
  const std::string title = page::escape_html(s.title), program = page::escape_html(s.program),
                    host = page::escape_html(s.host), css(page::common_css()),
                    refresh = s.finished ? "" : "<meta http-equiv=\"refresh\" content=\"5\">";
  return page::fill(kPage, {{"title", title},
                            {"program", program},
                            {"host", host},
                            {"css", css},
                            {"refresh", refresh},
                            {"counts", counts},
                            {"rate", rate},
                            {"warnings", warnings},
                            {"rows", rows}});
}

}  // namespace fiberloom::survey
