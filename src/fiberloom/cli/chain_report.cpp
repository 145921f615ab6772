// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/chain_report.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "fiberloom/cli/stage_json.hpp"
#include "fiberloom/recipes/chain/chain_status.hpp"
#include "fiberloom/recipes/chain/stand.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::cli {
namespace {

using night::TaskState;

/// Indices of the tasks of each step, in the order of the steps.
std::vector<std::pair<std::string, std::vector<std::size_t>>> by_step(
    const std::vector<night::Task>& tasks) {
  std::map<std::string, std::vector<std::size_t>> of;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    of[chain::step_of(tasks[i].labels)].push_back(i);
  }
  std::vector<std::pair<std::string, std::vector<std::size_t>>> out;
  for (const std::string& step : chain::step_names()) {
    if (const auto found = of.find(step); found != of.end()) out.emplace_back(*found);
  }
  return out;
}

void add_count(std::string& line, std::size_t count, const char* what) {
  if (count > 0) line += print(", %zu %s", count, what);
}

/// Names of what a task waits for; of many the first ones.
std::string needs_of(const night::BatchPlan& plan, std::size_t i) {
  constexpr std::size_t kShown = 4;
  std::vector<std::size_t> all = plan.after[i];
  all.insert(all.end(), plan.any[i].begin(), plan.any[i].end());
  if (all.empty()) return {};
  std::string text = plan.after[i].empty() ? " after any of " : " after ";
  for (std::size_t k = 0; k < std::min(all.size(), kShown); ++k) {
    text += (k > 0 ? ", " : "") + plan.tasks[all[k]].name;
  }
  if (all.size() > kShown) text += print(" and %zu more", all.size() - kShown);
  return text;
}

Json task_json(const night::Task& task, const night::Outcome& o) {
  Json json = {{"name", task.name}, {"step", chain::step_of(task.labels)}};
  for (const night::Label& label : task.labels) {
    if (label.name == "step") continue;
    std::visit([&](const auto& value) { json[label.name] = value; }, label.value);
  }
  json["state"] = night::state_name(o.state);
  json["exit_code"] = o.exit_code;
  json["message"] = o.message;
  json["attempts"] = o.attempts;
  json["rank"] = o.rank;
  json["output"] = task.outputs.front();
  for (const night::Measure& m : o.measures) json["quality"][m.name] = m.value;
  if (o.state != TaskState::kDone) return json;
  json["start_s"] = o.start_s;
  json["end_s"] = o.end_s;
  json["seconds"] = {{"read", stage_json(o.read)},
                     {"compute", stage_json(o.compute)},
                     {"write", stage_json(o.write)}};
  json["bytes_in"] = o.bytes_in;
  json["bytes_out"] = o.bytes_out;
  json["crc32"] = o.output_checksum;
  return json;
}

Json counts_json(const night::RunCounts& n) {
  return {{"tasks", n.tasks},         {"done", n.done},       {"up_to_date", n.up_to_date},
          {"failed", n.failed},       {"missing", n.missing}, {"blocked", n.blocked},
          {"elsewhere", n.elsewhere}, {"left", n.left}};
}

night::RunCounts count(const night::NightReport& r, const std::vector<std::size_t>& of) {
  std::vector<night::Outcome> outcomes;
  for (const std::size_t i : of) outcomes.push_back(r.outcomes[i]);
  return night::count_tasks(outcomes);
}

}  // namespace

std::string chain_line(const night::RunStatus& s) {
  std::size_t settled = 0, failed = 0, blocked = 0, working = 0;
  for (const night::StatusTask& t : s.tasks) {
    settled += night::is_settled(t.state);
    failed += t.state == TaskState::kFailed || t.state == TaskState::kMissing;
    blocked += t.state == TaskState::kBlocked;
    working += night::is_in_work(t.state);
  }
  std::string line = print("%s: %zu/%zu tasks", s.title.c_str(), settled, s.tasks.size());
  add_count(line, failed, "failed");
  add_count(line, blocked, "blocked");
  line += print(", %zu in work", working);
  if (s.left_s >= 0) line += print(", %.0f s left", s.left_s);
  return line;
}

std::vector<std::string> chain_summary(const night::NightReport& r) {
  std::vector<std::string> lines{night::counts_text(r.counts, "tasks")};
  for (const auto& [step, of] : by_step(r.tasks)) {
    const night::RunCounts n = count(r, of);
    if (n.done + n.up_to_date < n.tasks)
      lines.push_back(step + ": " + night::counts_text(n, "tasks"));
  }
  if (r.counts.done == 0) return lines;
  lines.push_back(night::effort_text(r));
  return lines;
}

std::vector<std::string> chain_table(const night::BatchPlan& plan,
                                     const night::PipelineOptions& options) {
  using State = night::Forecast::State;
  const std::vector<night::Forecast> forecasts = night::forecast(plan, options.retry);
  std::vector<std::string> lines;
  std::map<std::string, std::size_t> counts;
  double cost = 0;
  std::uint64_t largest = 0;
  for (const auto& [step, of] : by_step(plan.tasks)) {
    lines.push_back(step + ":");
    for (const std::size_t i : of) {
      const night::Finding& finding = plan.findings[i];
      const std::string state = night::forecast_name(forecasts[i].state);
      const bool todo = forecasts[i].state == State::kToDo;
      ++counts[state];
      std::string line = print("  %-10s %-32s", state.c_str(), plan.tasks[i].name.c_str());
      if (todo) {
        line += print(" %6.1f s", plan.tasks[i].cost_s) + needs_of(plan, i);
        cost += plan.tasks[i].cost_s;
        largest = std::max(largest, plan.tasks[i].memory_bytes + plan.tasks[i].workspace_bytes);
      } else if (forecasts[i].state == State::kBlocked) {
        line += needs_of(plan, i);
      }
      const bool waits = todo && finding.state == TaskState::kMissing;  // what is to be made
      if (!finding.message.empty() && !waits) line += " (" + finding.message + ")";
      lines.push_back(std::move(line));
    }
  }
  std::string sum = print("%zu tasks:", plan.tasks.size());
  for (const auto& [state, n] : counts) sum += print(" %zu %s,", n, state.c_str());
  sum.pop_back();
  lines.push_back(sum + print("; about %.0f core-seconds, up to %.0f MB a task", cost,
                              static_cast<double>(largest) / 1e6));
  return lines;
}

std::string chain_json(const night::NightReport& r, const chain::AllStepOptions& options,
                       const Tracer& tracer) {
  Json json = {{"schema", "fiberloom-chain-1"},
               {"program", "fiberloom night"},
               {"versions", {{"fiberloom", version()}, {"compiler", __VERSION__}}},
               {"counts", counts_json(r.counts)},
               {"exit_code", static_cast<int>(night::exit_status(r))},
               {"ranks", r.status.ranks},
               {"threads", r.status.threads},
               {"wall_s", r.wall_s},
               {"cpu_s", r.cpu_s},
               {"peak_memory_bytes", r.peak_memory_bytes},
               {"warnings", r.status.warnings}};
  json["steps"] = Json::object();
  json["options"] = Json::object();
  for (const auto& [step, of] : by_step(r.tasks)) {
    json["steps"][step] = counts_json(count(r, of));
    const chain::Step which = chain::find_step(step).value_or(chain::Step::kExtract);
    if (which == chain::Step::kExtract) continue;  // frames have options of their own
    for (const auto& [key, text] : chain::settings_of(options_of(options, which), which)) {
      json["options"][step][key] = text;
    }
  }
  json["tasks"] = Json::array();
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    json["tasks"].push_back(task_json(r.tasks[i], r.outcomes[i]));
  }
  json["timers"] = Json::object();
  for (const auto& [name, sum] : tracer.sums()) {
    json["timers"][name] = {{"seconds", sum.seconds}, {"count", sum.count}};
  }
  return json.dump(2) + "\n";
}

}  // namespace fiberloom::cli
