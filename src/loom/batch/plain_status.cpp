// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/plain_status.hpp"

#include <algorithm>
#include <map>

#include "loom/base/print.hpp"
#include "loom/batch/status_text.hpp"
#include "loom/json/json.hpp"
#include "loom/page/page.hpp"

namespace loom::batch {
namespace {

constexpr std::size_t kShown = 5000;  // rows of the page; the file for programs has all

Json task_json(const StatusTask& task, const char* input) {
  Json json = {{"name", task.name},
               {input, std::get<std::string>(find_label(task.labels, input)->value)},
               {"state", state_name(task.state)},
               {"seconds", rounded(task.seconds)},
               {"message", task.message},
               {"exit_code", task.exit_code},
               {"attempts", task.attempts},
               {"rank", task.rank}};
  for (const Measure& m : task.measures) json[m.name] = m.value;
  return json;
}

double measure_of(const StatusTask& task, const std::string& name) {
  const auto found = std::find_if(task.measures.begin(), task.measures.end(),
                                  [&](const Measure& m) { return m.name == name; });
  return found == task.measures.end() ? 0 : found->value;
}

std::string row_of(const StatusTask& task, const PlainStatus& what) {
  std::string row = "<tr><td>" + page::escape_html(task.name) + "</td><td>" +
                    page::escape_html(state_name(task.state)) + "</td>";
  for (const PlainStatus::Column& column : what.columns) {
    row += "<td>";
    if (!task.measures.empty()) {
      row += print("%.*f", column.digits, measure_of(task, column.measure));
    }
    row += "</td>";
  }
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
<div><table><thead><tr>{{heads}}<th>seconds</th>
<th>rank</th><th>message</th></tr></thead><tbody>
{{rows}}</tbody></table></div></main></body></html>
)";

}  // namespace

std::string plain_json(const RunStatus& status, const PlainStatus& what) {
  Json json = run_json(status, what.schema);
  json[what.things] = Json::array();
  for (const StatusTask& task : status.tasks) {
    json[what.things].push_back(task_json(task, what.input));
  }
  return json.dump(1, JsonText::kAscii) + "\n";
}

std::string plain_html(const RunStatus& status, const PlainStatus& what) {
  std::string rows, heads = std::string("<th>") + what.title + "</th><th>state</th>";
  for (const PlainStatus::Column& c : what.columns)
    heads += std::string("<th>") + c.title + "</th>";
  for (std::size_t i = 0; i < std::min(status.tasks.size(), kShown); ++i) {
    rows += row_of(status.tasks[i], what);
  }
  std::map<std::string, std::string> values = page_values(status);
  values["rate"] = print("%.3g %s a minute, %.0f s so far", status.tasks_per_minute, what.things,
                         status.elapsed_s);
  values["heads"] = heads;
  values["rows"] = rows;
  return page::fill(kPage, {values.begin(), values.end()});
}

}  // namespace loom::batch
