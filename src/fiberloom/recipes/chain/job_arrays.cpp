// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/job_arrays.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "fiberloom/recipes/chain/chain_status.hpp"
#include "fiberloom/recipes/chain/steps.hpp"

namespace fiberloom::chain {
namespace {

/// Place of a task: which array, which element of it.
struct Place {
  std::size_t array = 0, element = 0;
};

std::size_t number_of_step(const Task& task) {
  const std::optional<Step> step = find_step(step_of(task.labels));
  return step ? static_cast<std::size_t>(*step) : step_names().size();
}

std::vector<std::size_t> needs_of(const BatchPlan& plan, std::size_t task) {
  std::vector<std::size_t> needs = plan.after[task];
  needs.insert(needs.end(), plan.any[task].begin(), plan.any[task].end());
  return needs;
}

/// Step, then how many tasks of the step are before it.
using Level = std::pair<std::size_t, std::size_t>;

std::map<Level, std::vector<std::size_t>> by_level(const BatchPlan& plan,
                                                   const std::vector<Forecast>& forecasts) {
  std::map<Level, std::vector<std::size_t>> levels;
  std::vector<Level> of(plan.tasks.size());
  for (const std::size_t i : sorted_by_need(plan.after, plan.any)) {
    if (forecasts[i].state != Forecast::State::kToDo) continue;
    of[i] = {number_of_step(plan.tasks[i]), 0};
    for (const std::size_t need : needs_of(plan, i)) {
      if (forecasts[need].state != Forecast::State::kToDo || of[need].first != of[i].first)
        continue;
      of[i].second = std::max(of[i].second, of[need].second + 1);
    }
  }
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    if (forecasts[i].state == Forecast::State::kToDo) levels[of[i]].push_back(i);
  }
  return levels;
}

/// How `later` hangs together with the arrays before it.
void connect(std::vector<JobArray>& arrays, std::size_t later,
             const std::vector<std::size_t>& tasks, const BatchPlan& plan,
             const std::map<std::size_t, Place>& places) {
  std::map<std::size_t, bool> twins;  // by array: does each element need that of its number alone?
  for (const std::size_t task : tasks) {
    for (const std::size_t need : needs_of(plan, task)) {
      const auto place = places.find(need);
      if (place == places.end()) continue;
      const std::size_t array = place->second.array;
      const bool twin = place->second.element == places.at(task).element &&
                        arrays[array].elements.size() == arrays[later].elements.size() &&
                        plan.any[task].empty();
      const auto [known, fresh] = twins.try_emplace(array, twin);
      if (!fresh) known->second = known->second && twin;
    }
  }
  for (const auto& [array, twin] : twins) {
    arrays[later].after.emplace_back(array, twin ? After::kTwin : After::kAll);
  }
}

}  // namespace

std::vector<JobArray> job_arrays(const BatchPlan& plan, const std::vector<Forecast>& forecasts,
                                 std::size_t most) {
  std::vector<JobArray> arrays;
  std::map<std::size_t, Place> places;
  for (const auto& [level, tasks] : by_level(plan, forecasts)) {
    JobArray array;
    array.name = step_names()[level.first];
    if (level.second > 0) array.name += "-" + std::to_string(level.second + 1);
    const bool in_turn =
        std::ranges::any_of(tasks, [&](std::size_t task) { return plan.tasks[task].on_first; });
    const std::size_t each = in_turn ? tasks.size() : (tasks.size() + most - 1) / most;
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      if (k % each == 0) array.elements.emplace_back();
      array.elements.back().push_back(plan.tasks[tasks[k]].name);
      places[tasks[k]] = {arrays.size(), array.elements.size() - 1};
    }
    arrays.push_back(std::move(array));
    connect(arrays, arrays.size() - 1, tasks, plan, places);
  }
  return arrays;
}

std::string shell_word(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string script_path(const JobArray& array, const ScriptSetup& setup) {
  return setup.jobs + "/" + array.name + ".sbatch";
}

std::string list_path(const JobArray& array, const ScriptSetup& setup) {
  return setup.jobs + "/" + array.name + ".tasks";
}

std::string array_list(const JobArray& array) {
  std::string text;
  for (const auto& element : array.elements) {
    for (std::size_t k = 0; k < element.size(); ++k) text += (k > 0 ? "," : "") + element[k];
    text += "\n";
  }
  return text;
}

std::string array_script(const JobArray& array, const ScriptSetup& setup) {
  std::string text = "#!/bin/bash\n# Written by fiberloom night --submit: step " + array.name +
                     ", an element for each line of " + array.name + ".tasks.\n";
  const auto option = [&](const std::string& words) { text += "#SBATCH " + words + "\n"; };
  option("--job-name=fiberloom-" + array.name);
  option("--array=0-" + std::to_string(array.elements.size() - 1));
  option("--ntasks=1");
  option("--cpus-per-task=" + std::to_string(setup.threads));
  option("--kill-on-invalid-dep=yes");
  option("--signal=TERM@120");
  option("--output=\"" + setup.jobs + "/" + array.name + "-%A-%a.log\"");
  if (!setup.more.empty()) option(setup.more);
  text += "set -euo pipefail\ncd " + shell_word(setup.folder) + "\n";
  text += "tasks=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" " +
          shell_word(list_path(array, setup)) + ")\nexec";
  for (const std::string& word : setup.command) text += " " + shell_word(word);
  return text + " --mpi off --tasks \"$tasks\"\n";
}

}  // namespace fiberloom::chain
