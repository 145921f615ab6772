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

/// The exit code of a run of `things` ("frames"). Throws the fault that ended it, or kInterrupted
/// with how many are left.
[[nodiscard]] int end_run(const BatchReport& report, const char* things);

}  // namespace loom::batch
