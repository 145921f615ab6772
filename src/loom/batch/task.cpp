// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/task.hpp"

namespace loom::batch {

std::string state_name(TaskState state) {
  switch (state) {
    case TaskState::kWaiting:
      return "waiting";
    case TaskState::kClaimed:
      return "claimed";
    case TaskState::kReading:
      return "reading";
    case TaskState::kComputing:
      return "computing";
    case TaskState::kWriting:
      return "writing";
    case TaskState::kDone:
      return "done";
    case TaskState::kUpToDate:
      return "up-to-date";
    case TaskState::kFailed:
      return "failed";
    case TaskState::kMissing:
      return "missing";
    case TaskState::kAbandoned:
      return "abandoned";
    case TaskState::kBlocked:
      return "blocked";
  }
  return "unknown";
}

Outcome blocked_outcome(std::size_t task, const std::string& needed) {
  Outcome outcome;
  outcome.task = task;
  outcome.state = TaskState::kBlocked;
  outcome.message = "needs " + needed + ", which is not done";
  return outcome;
}

}  // namespace loom::batch
