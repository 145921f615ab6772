// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/chain_status.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "fiberloom/recipes/chain/steps.hpp"
#include "loom/base/print.hpp"
#include "loom/batch/status_text.hpp"
#include "loom/json/json.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::chain {
namespace {

using namespace loom;         // NOLINT(google-build-using-namespace)
using namespace loom::batch;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kShown = 5000;  // rows of the page; status.json has all

StepCounts count_steps(const RunStatus& status) {
  std::map<std::string, StateCounts> of;
  for (const StatusTask& task : status.tasks) ++of[step_of(task.labels)][state_name(task.state)];
  return in_order_of_steps(std::move(of));
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

/// The colour of a task's state on the page.
std::string css_class(TaskState state) {
  if (state == TaskState::kFailed || state == TaskState::kMissing) return "failed";
  if (state == TaskState::kBlocked) return "blocked";
  if (is_in_work(state)) return "work";
  return is_good(state) ? "done" : "waiting";
}

std::string row_of(const StatusTask& task) {
  std::string measures;
  for (const Measure& m : task.measures) {
    measures += (measures.empty() ? "" : ", ") + m.name + print(" %.4g", m.value);
  }
  return "<tr class=\"" + css_class(task.state) + "\"><td>" + page::escape_html(task.name) +
         "</td><td>" + page::escape_html(step_of(task.labels)) + "</td><td>" +
         state_name(task.state) +
         print("</td><td>%.1f</td><td>%d</td><td>", task.seconds, task.rank) +
         page::escape_html(measures) + "</td><td>" + page::escape_html(task.message) +
         "</td></tr>\n";
}

std::string print_label(const std::string& text) { return text; }
template <class Number>
std::string print_label(Number number) {
  return print("%lld", static_cast<long long>(number));
}

/// What a task is of: "exposure 4", "tile 1000", or all of the night.
std::string place_of(const StatusTask& task) {
  for (const char* kind : {"expid", "tile"}) {
    if (const Label* label = find_label(task.labels, kind)) {
      const std::string number =
          std::visit([](const auto& value) { return print_label(value); }, label->value);
      return (std::string(kind) == "tile" ? "tile " : "exposure ") + number;
    }
  }
  return "night";
}

/// The tree: a line for each exposure, the night and each tile, a column for each step, a square
/// for each task.
std::string tree_of(const RunStatus& status, const StepCounts& steps) {
  std::vector<std::string> places;  // in the order in which tasks name them
  std::map<std::string, std::map<std::string, std::string>> squares;
  for (std::size_t i = 0; i < status.tasks.size() && i < kShown; ++i) {
    const StatusTask& task = status.tasks[i];
    const std::string place = place_of(task), state = state_name(task.state);
    if (squares.find(place) == squares.end()) places.push_back(place);
    squares[place][step_of(task.labels)] +=
        "<i class=\"" + css_class(task.state) + "\" title=\"" +
        page::escape_html(task.name + ": " + state +
                          (task.message.empty() ? "" : ", " + task.message)) +
        "\"></i>";
  }
  std::string head = "<tr><th></th>", rows;
  for (const auto& [step, counts] : steps) head += "<th>" + step + "</th>";
  for (const std::string& place : places) {
    rows += "<tr><th>" + page::escape_html(place) + "</th>";
    for (const auto& [step, counts] : steps) rows += "<td>" + squares[place][step] + "</td>";
    rows += "</tr>\n";
  }
  return "<thead>" + head + "</tr></thead><tbody>\n" + rows + "</tbody>";
}

double measure_of(const StatusTask& task, const std::string& name) {
  for (const Measure& m : task.measures) {
    if (m.name == name) return m.value;
  }
  return std::nan("");
}

std::string number_cell(const char* format, double value) {
  return std::isfinite(value) ? print(format, value) : std::string();
}

/// How each exposure looks and how good it is, as far as its quality is known; empty: of none.
std::string exposures_of(const RunStatus& status) {
  std::string rows;
  for (std::size_t i = 0, shown = 0; i < status.tasks.size() && shown < kShown; ++i) {
    const StatusTask& task = status.tasks[i];
    if (step_of(task.labels) != name_of(Step::kQuality) || !is_good(task.state)) continue;
    ++shown;
    const std::string place = page::escape_html(place_of(task));
    rows += "<tr><th>" + place + "</th><td>";
    if (!task.page.empty()) {
      const std::string link = page::escape_html(task.page);
      rows += "<a href=\"" + link + "\"><img src=\"" + link + "\" alt=\"spectra of " + place +
              "\" loading=\"lazy\"></a>";
    }
    rows += "</td><td>" + number_cell("%.0f", measure_of(task, "good_fibers")) + " of " +
            number_cell("%.0f", measure_of(task, "fibers")) + "</td>";
    for (const char* kind : {"snr_", "sky_width_"}) {
      for (const char band : {'b', 'r', 'z'}) {
        rows += "<td>" + number_cell("%.3g", measure_of(task, std::string(kind) + band)) + "</td>";
      }
    }
    rows += "</tr>\n";
  }
  if (rows.empty()) return rows;
  return "<h2>Exposures</h2><p>Flux of all fibres, blue to infrared; S/N of targets, median of a "
         "square root "
         "of an Angstrom; sky residuals in units of their errors.</p>\n"
         "<div class=\"wide\"><table class=\"exposures\"><thead><tr><th></th><th></th><th>good "
         "fibres</th>"
         "<th>S/N b</th><th>r</th><th>z</th><th>sky "
         "b</th><th>r</th><th>z</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>";
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
.wide { overflow-x: auto; margin-bottom: 1.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
td:last-child { white-space: normal; min-width: 12rem; }
.tree td, .tree th { white-space: nowrap; vertical-align: top; min-width: 0; }
.tree td { white-space: normal; }
i { display: inline-block; width: .75rem; height: .75rem; margin: 1px; border-radius: 2px; background: var(--line); }
i.done { background: var(--good); }
i.work { background: var(--third); }
i.blocked { background: var(--amber); }
i.failed { background: var(--bad); }
.exposures td { white-space: nowrap; vertical-align: middle; min-width: 0; }
.exposures img { display: block; height: 3rem; width: 14rem; image-rendering: pixelated; background: var(--line); }
tr.failed td:first-child { border-left: .3rem solid var(--bad); }
tr.blocked td:first-child { border-left: .3rem solid var(--amber); }
</style></head><body><main><h1>{{title}}</h1>
<p>{{program}} on {{host}}: {{counts}}; {{elapsed}}</p><ul>{{warnings}}</ul>
<div class="wide"><table><thead><tr><th>step</th><th>tasks</th></tr></thead><tbody>
{{steps}}</tbody></table></div>
<div class="wide"><table class="tree">{{tree}}</table></div>
<p><i class="done"></i> done <i class="work"></i> in work <i></i> waiting <i class="blocked"></i> held back
<i class="failed"></i> failed or missing</p>
{{exposures}}
<div class="wide"><table><thead><tr><th>task</th><th>step</th><th>state</th><th>seconds</th><th>rank</th>
<th>numbers</th><th>message</th></tr></thead><tbody>
{{rows}}</tbody></table></div></main></body></html>
)";

}  // namespace

std::string step_of(const std::vector<Label>& labels) {
  const Label* label = find_label(labels, "step");
  return label == nullptr ? name_of(Step::kExtract) : std::get<std::string>(label->value);
}

StepCounts in_order_of_steps(std::map<std::string, StateCounts> counts) {
  StepCounts out;
  for (const std::string& step : step_names()) {
    if (auto found = counts.extract(step)) out.emplace_back(found.key(), found.mapped());
  }
  out.insert(out.end(), counts.begin(), counts.end());
  return out;
}

std::string status_json(const RunStatus& s) {
  Json json = run_json(s, "fiberloom-chain-status-1");
  json["steps"] = Json::object();
  for (const auto& [step, counts] : count_steps(s)) json["steps"][step] = counts_json(counts);
  json["tasks"] = Json::array();
  for (const StatusTask& task : s.tasks) json["tasks"].push_back(task_json(task));
  return json.dump(1, JsonText::kAscii) + "\n";
}

std::string status_html(const RunStatus& s) {
  const StepCounts step_counts = count_steps(s);
  std::string steps, rows;
  for (const auto& [step, counts] : step_counts) {
    steps += "<tr><td>" + step + "</td><td>" + counts_text(counts) + "</td></tr>\n";
  }
  std::vector<const StatusTask*> order;
  for (const StatusTask& task : s.tasks) order.push_back(&task);
  std::stable_sort(order.begin(), order.end(), [](const StatusTask* a, const StatusTask* b) {
    return rank_of(a->state) < rank_of(b->state);
  });
  for (std::size_t i = 0; i < order.size() && i < kShown; ++i) rows += row_of(*order[i]);
  std::map<std::string, std::string> values = page_values(s);
  values["elapsed"] = print("%.0f s so far", s.elapsed_s);
  values["steps"] = steps;
  values["tree"] = tree_of(s, step_counts);
  values["exposures"] = exposures_of(s);
  values["rows"] = rows;
  return page::fill(kPage, {values.begin(), values.end()});
}

}  // namespace fiberloom::chain
