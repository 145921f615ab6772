// SPDX-License-Identifier: BSD-3-Clause
// How a plan and a run's end are told on the command line, whatever its tasks are.
#pragma once

#include <string>

#include "loom/base/error.hpp"
#include "loom/batch/run.hpp"

namespace loom::batch {

struct PlanText {
  std::string text;             ///< a line a task: state, name, why
  Status status = Status::kOk;  ///< kSomeFailed: the input of some is missing
};
[[nodiscard]] PlanText plan_text(const BatchPlan& plan);

/// How far a run of `things` ("files") has come: "3/7 files, 2 a minute, 1 failed, 60 s left".
[[nodiscard]] std::string progress_text(const RunStatus& status, const char* things);

/// How many of `things` are in which state at the end: "7 files: 3 done, 2 up to date, 2 left".
[[nodiscard]] std::string counts_text(const RunCounts& counts, const char* things);
/// What that took: "12.3 s, 45.6 CPU-s, peak 789 MB".
[[nodiscard]] std::string effort_text(const BatchReport& report);

/// The exit code of a run of `things` ("frames"). Throws the fault that ended it, or kInterrupted
/// with how many are left.
[[nodiscard]] int end_run(const BatchReport& report, const char* things);

}  // namespace loom::batch
