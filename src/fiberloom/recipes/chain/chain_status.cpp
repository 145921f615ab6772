// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/chain_status.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "fiberloom/recipes/chain/steps.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/page/embedded.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::chain {
namespace {

using namespace loom;         // NOLINT(google-build-using-namespace)
using namespace loom::batch;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kShown = 5000;  // rows of the page; status.json has all

double rounded(double value) { return std::round(1000 * value) / 1000; }

using Counts = std::map<std::string, std::size_t>;

Counts count_states(const RunStatus& status) {
  Counts counts;
  for (const StatusTask& task : status.tasks) ++counts[state_name(task.state)];
  return counts;
}

/// In the order of the steps.
std::vector<std::pair<std::string, Counts>> count_steps(const RunStatus& status) {
  std::map<std::string, Counts> by_name;
  for (const StatusTask& task : status.tasks) {
    ++by_name[step_of(task.labels)][state_name(task.state)];
  }
  std::vector<std::pair<std::string, Counts>> out;
  for (const std::string& step : step_names()) {
    const auto found = by_name.find(step);
    if (found != by_name.end()) out.emplace_back(*found);
  }
  return out;
}

std::string text_of(const Counts& counts) {
  std::string text;
  for (const auto& [name, n] : counts) {
    text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + name;
  }
  return text;
}

Json task_json(const StatusTask& task) {
  Json json = {{"name", task.name}, {"step", step_of(task.labels)}};
  for (const Label& label : task.labels) {
    if (label.name == "step") continue;
    std::visit([&](const auto& value) { json[label.name] = value; }, label.value);
  }
  json["state"] = state_name(task.state);
  json["seconds"] = rounded(task.seconds);
  json["message"] = task.message;
  json["exit_code"] = task.exit_code;
  json["attempts"] = task.attempts;
  json["rank"] = task.rank;
  if (task.measures.empty()) return json;
  json["quality"] = Json::object();
  for (const Measure& m : task.measures) json["quality"][m.name] = rounded(m.value);
  return json;
}

std::string row_of(const StatusTask& task) {
  std::string measures;
  for (const Measure& m : task.measures) {
    measures += (measures.empty() ? "" : ", ") + m.name + print(" %.4g", m.value);
  }
  return "<tr class=\"" + state_name(task.state) + "\"><td>" + page::escape_html(task.name) +
         "</td><td>" + page::escape_html(step_of(task.labels)) + "</td><td>" +
         state_name(task.state) +
         print("</td><td>%.1f</td><td>%d</td><td>", task.seconds, task.rank) +
         page::escape_html(measures) + "</td><td>" + page::escape_html(task.message) +
         "</td></tr>\n";
}

/// What went wrong before what is in work, what waits, what is done.
int rank_of(TaskState state) {
  if (state == TaskState::kFailed) return 0;
  if (state == TaskState::kMissing) return 1;
  if (state == TaskState::kBlocked) return 2;
  if (is_in_work(state)) return 3;
  return is_good(state) ? 5 : 4;
}

constexpr std::string_view kPage = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{title}}</title>{{refresh}}
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{{css}}
body { max-width: 80rem; margin: 1rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 1.5rem; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #8884; }
tr.failed td:first-child, tr.missing td:first-child { border-left: .3rem solid #c33; }
tr.blocked td:first-child { border-left: .3rem solid #c90; }
</style></head><body><main><h1>{{title}}</h1>
<p>{{program}} on {{host}}: {{counts}}; {{elapsed}}</p><ul>{{warnings}}</ul>
<table><thead><tr><th>step</th><th>tasks</th></tr></thead><tbody>
{{steps}}</tbody></table>
<table><thead><tr><th>task</th><th>step</th><th>state</th><th>seconds</th><th>rank</th>
<th>numbers</th><th>message</th></tr></thead><tbody>
{{rows}}</tbody></table></main></body></html>
)";

}  // namespace

std::string step_of(const std::vector<Label>& labels) {
  const Label* label = find_label(labels, "step");
  return label == nullptr ? name_of(Step::kExtract) : std::get<std::string>(label->value);
}

std::string status_json(const RunStatus& s) {
  Json json = {{"schema", "fiberloom-chain-status-1"},
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
  json["steps"] = Json::object();
  for (const auto& [step, counts] : count_steps(s)) {
    json["steps"][step] = Json::object();
    for (const auto& [name, n] : counts) json["steps"][step][name] = n;
  }
  json["tasks"] = Json::array();
  for (const StatusTask& task : s.tasks) json["tasks"].push_back(task_json(task));
  return json.dump(1, JsonText::kAscii) + "\n";
}

std::string status_html(const RunStatus& s) {
  std::string steps, rows, warnings;
  for (const auto& [step, counts] : count_steps(s)) {
    steps += "<tr><td>" + step + "</td><td>" + text_of(counts) + "</td></tr>\n";
  }
  std::vector<const StatusTask*> order;
  for (const StatusTask& task : s.tasks) order.push_back(&task);
  std::stable_sort(order.begin(), order.end(), [](const StatusTask* a, const StatusTask* b) {
    return rank_of(a->state) < rank_of(b->state);
  });
  for (std::size_t i = 0; i < order.size() && i < kShown; ++i) rows += row_of(*order[i]);
  for (const std::string& warning : s.warnings) {
    warnings += "<li>" + page::escape_html(warning) + "</li>";
  }
  const std::string title = page::escape_html(s.title), program = page::escape_html(s.program),
                    host = page::escape_html(s.host), css(page::common_css()),
                    counts = text_of(count_states(s)),
                    elapsed = print("%.0f s so far", s.elapsed_s),
                    refresh = s.finished ? "" : "<meta http-equiv=\"refresh\" content=\"5\">";
  return page::fill(kPage, {{"title", title},
                            {"program", program},
                            {"host", host},
                            {"css", css},
                            {"refresh", refresh},
                            {"counts", counts},
                            {"elapsed", elapsed},
                            {"warnings", warnings},
                            {"steps", steps},
                            {"rows", rows}});
}

}  // namespace fiberloom::chain
