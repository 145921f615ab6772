// SPDX-License-Identifier: BSD-3-Clause
// OUT/.PROGRAM/plan.jsonl: the tasks that runs on the folder had, what each is made of and makes.
// With it and the receipts a question such as "why is this not done?" is answered later, by who
// has neither the inputs' headers nor the command line of the run.
#pragma once

#include <string>
#include <vector>

#include "loom/batch/run_folder.hpp"
#include "loom/batch/task.hpp"
#include "loom/batch/work_kind.hpp"

namespace loom::batch {

/// A task as a plan keeps it: all but its content and what it may cost. Paths are absolute.
struct PlannedTask {
  Task task;
  std::string options;  ///< WorkKind::fingerprint, when it was planned
};

/// Adds tasks to the folder's plan, in place of those of their names. One process alone may: the
/// one that holds the claim "ledger". Throws kUnwritable, kDiskFull.
void save_plan(const RunFolder& folder, const std::vector<Task>& tasks, const WorkKinds& kinds);

/// In the order in which they came; nothing where there is no plan. Lines that are damaged are left
/// out.
[[nodiscard]] std::vector<PlannedTask> read_plan(const RunFolder& folder);

}  // namespace loom::batch
