// SPDX-License-Identifier: BSD-3-Clause
// What `fiberloom night --until STEP` tells of its tasks: lines for people, --json for programs.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/recipes/chain/chain.hpp"

namespace fiberloom::cli {

/// "night 20260101: 12/30 tasks, 1 failed, 2 blocked, 3 in work, 42 s left".
[[nodiscard]] std::string chain_line(const night::RunStatus& status);

/// The last lines: counts of all tasks, and of those of each step that are not as they should be.
[[nodiscard]] std::vector<std::string> chain_summary(const night::NightReport& report);

/// The tree: a line a task with its state, why, what it takes and what it waits for; then counts,
/// core-seconds and memory.
[[nodiscard]] std::vector<std::string> chain_table(const night::BatchPlan& plan,
                                                   const night::PipelineOptions& options);

/// --json; names are a contract (docs/fiberloom/nights.md).
[[nodiscard]] std::string chain_json(const night::NightReport& report,
                                     const chain::AllStepOptions& options, const Tracer& tracer);

}  // namespace fiberloom::cli
