// SPDX-License-Identifier: BSD-3-Clause
// What a chain shows of itself while it runs: numbers for programs, a plain page for people.
#pragma once

#include <string>

#include "loom/batch/run_status.hpp"

namespace fiberloom::chain {

/// status.json: the run under the names that nights use, with "tasks" in place of frames, and what
/// is done, waiting, failed and blocked of each step.
[[nodiscard]] std::string status_json(const loom::batch::RunStatus& status);
/// status.html: self-contained, loads itself anew while the run goes on; what failed comes first.
[[nodiscard]] std::string status_html(const loom::batch::RunStatus& status);

/// The step that a task belongs to: its label, or "extract".
[[nodiscard]] std::string step_of(const std::vector<loom::batch::Label>& labels);

}  // namespace fiberloom::chain
