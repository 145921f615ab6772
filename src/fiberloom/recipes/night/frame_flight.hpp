// SPDX-License-Identifier: BSD-3-Clause
// A frame on its way through the pipeline: what one stage leaves for the next.
#pragma once

#include <chrono>
#include <exception>

#include "fiberloom/recipes/night/fault.hpp"
#include "fiberloom/recipes/night/frame_pipeline.hpp"
#include "fiberloom/recipes/night/inspect.hpp"

namespace fiberloom::night {

struct FramePipeline::Flight {
  Flight(const FrameTask& its_task, const WorkUnit& its_unit) : task(its_task), unit(its_unit) {
    outcome.frame = unit.frame;
    outcome.first_bundle = unit.first_bundle;
  }
  [[nodiscard]] bool whole() const noexcept { return unit.last_bundle < 0; }

  const FrameTask& task;
  const WorkUnit unit;
  FrameOutcome outcome;
  MemoryBudget::Share share;
  std::size_t threads = 0;  ///< that may compute it at once; 0: it fits with none
  std::uint64_t order = 0;
  bool claimed = false;
  bool failed_before = false;  ///< in an earlier run
  int earlier_attempts = 0;    ///< in earlier runs
  InputStamps inputs;          ///< before they were read
  std::chrono::steady_clock::time_point queued;
  PreparedFrame prepared;  ///< read -> compute -> write
  ExtractResult result;    ///< compute -> write
};

/// Removes temporaries of `output` that its dead writers left: those of these processes, and those
/// nobody has touched for the claims' time-out.
void remove_temporaries(const std::string& output, const std::vector<long>& dead_pids,
                        const Claims& claims);

}  // namespace fiberloom::night
