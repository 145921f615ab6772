// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/stand.hpp"

#include "fiberloom/recipes/night/night.hpp"

namespace fiberloom::chain {
namespace {

constexpr const char* kProgram = "fiberloom";

}  // namespace

Explanation explain(const std::string& output, const std::string& task) {
  return explain_task(night::run_folder(output), task);
}

std::vector<Standing> stand(const std::string& output) {
  return stand_of_tasks(night::run_folder(output));
}

std::vector<KnownRun> runs_in(const std::string& state) { return known_runs(state, kProgram); }

std::vector<Standing> stand_in(const std::string& state, const std::string& run) {
  std::vector<Standing> out;
  for (LedgerRow& row : known_tasks(state, kProgram, run)) {
    Standing standing;
    standing.task.name = std::move(row.name);
    standing.task.labels = std::move(row.labels);
    standing.state = std::move(row.state);
    standing.message = std::move(row.message);
    out.push_back(std::move(standing));
  }
  return out;
}

LedgerRow task_in(const std::string& state, const std::string& run, const std::string& task) {
  return known_tasks(state, kProgram, run, task).front();
}

std::string step_or_kind(const Task& task) {
  const Label* label = find_label(task.labels, "step");
  if (label != nullptr) return std::get<std::string>(label->value);
  return task.kind.empty() ? "extract" : task.kind;  // a database has no kinds
}

void spare_state_of(const std::string& output, const std::string& state_url,
                    const std::string& json) {
  if (json.empty() || json == "-") return;
  spare_state(night::run_folder(output), state_url, {"--json", json});
}

void spare_files_of(const std::vector<Task>& tasks, const std::string& json) {
  if (json.empty() || json == "-") return;
  std::vector<NamedFile> files;
  for (const Task& task : tasks) {
    for (const auto* paths : {&task.inputs, &task.outputs}) {
      for (const std::string& path : *paths) files.push_back({"file of " + task.name, path});
    }
  }
  const NamedFile answer{"--json", json};
  check_distinct({&answer, 1}, files);
}

}  // namespace fiberloom::chain
