// SPDX-License-Identifier: BSD-3-Clause
// What is there of a task already, and what is to be done. Reads, never writes.
#pragma once

#include <string>
#include <vector>

#include "loom/batch/receipt.hpp"
#include "loom/batch/work_kind.hpp"

namespace loom::batch {

/// How closely to look at outputs that have a receipt.
enum class Check {
  kStamps,  ///< size and time; the checksum only where the time differs
  kBytes,   ///< read them again: CRC-32 of the file, and what its kind checks (verify_output)
};

/// Up to date, failed (in quarantine), missing (an input is not there), or waiting: to be done.
struct Finding {
  TaskState state = TaskState::kWaiting;
  std::string message;  ///< why it failed; what is missing; why an output does not count; for the
                        ///< reader alone
  int exit_code = 0;
  int attempts = 0;               ///< made in earlier runs, of the same inputs, options and version
  InputStamps inputs;             ///< as they are now
  std::vector<Measure> measures;  ///< of a task that is up to date, from its receipt
  std::string page;               ///< path below OUT of its page, where that is there
  /// A task that is up to date, but a page of it is asked for and is not there.
  bool lacks_page = false;
};

/// What an observer is told of a task that is left as it is.
[[nodiscard]] Outcome outcome_of(const Finding& finding);

[[nodiscard]] Finding inspect_task(const Task& task, const WorkKind& kind, const RunFolder& folder,
                                   Check check = Check::kStamps);
/// The same of one task of many that are looked at at one time.
[[nodiscard]] Finding inspect_task(const Task& task, const WorkKind& kind, const RunFolder& folder,
                                   Check check, StampCache& cache);

}  // namespace loom::batch
