// SPDX-License-Identifier: BSD-3-Clause
// A task on its way through the pipeline: what one stage leaves for the next.
#pragma once

#include <chrono>
#include <exception>

#include "loom/batch/fault.hpp"
#include "loom/batch/inspect.hpp"
#include "loom/batch/pipeline.hpp"

namespace loom::batch {

struct Pipeline::Flight {
  Flight(const Task& its_task, WorkKind& its_kind, const WorkUnit& its_unit)
      : task(its_task), kind(its_kind), unit(its_unit) {
    outcome.task = unit.task;
    outcome.first_part = unit.first_part;
  }
  [[nodiscard]] bool whole() const noexcept { return unit.last_part < 0; }

  const Task& task;
  WorkKind& kind;
  const WorkUnit unit;
  Outcome outcome;
  MemoryBudget::Share share;
  std::size_t threads = 0;  ///< that may compute it at once; 0: it fits with none
  std::uint64_t order = 0;
  bool claimed = false;
  bool failed_before = false;  ///< in an earlier run
  int earlier_attempts = 0;    ///< in earlier runs
  InputStamps inputs;          ///< before they were read
  std::chrono::steady_clock::time_point queued;
  std::unique_ptr<Opaque> material;  ///< read -> compute -> write
  std::unique_ptr<Opaque> piece;     ///< compute -> write
};

/// Removes temporaries of `output` that its dead writers left: those of these processes, and those
/// nobody has touched for the claims' time-out.
void remove_temporaries(const std::string& output, const std::vector<long>& dead_pids,
                        const Claims& claims);

/// Those of all that the task writes.
void remove_temporaries(const Task& task, const std::vector<long>& dead_pids, const Claims& claims);

}  // namespace loom::batch
