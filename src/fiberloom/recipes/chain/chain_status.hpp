// SPDX-License-Identifier: BSD-3-Clause
// What a chain shows of itself while it runs: numbers for programs, a plain page for people.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "loom/batch/run_status.hpp"
#include "loom/batch/status_text.hpp"

namespace fiberloom::chain {

/// status.json: the run under the names that nights use, with "tasks" in place of frames, and what
/// is done, waiting, failed and blocked of each step.
[[nodiscard]] std::string status_json(const loom::batch::RunStatus& status);
/// status.html: self-contained, loads itself anew while the run goes on; what failed comes first.
[[nodiscard]] std::string status_html(const loom::batch::RunStatus& status);

/// The step that a task belongs to: its label, or "extract".
[[nodiscard]] std::string step_of(const std::vector<loom::batch::Label>& labels);

/// How many tasks of each step are in each state.
using StepCounts = std::vector<std::pair<std::string, loom::batch::StateCounts>>;

/// In the order of the steps; others, of runs that have none, after them.
[[nodiscard]] StepCounts in_order_of_steps(std::map<std::string, loom::batch::StateCounts> counts);

}  // namespace fiberloom::chain
