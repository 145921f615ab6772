// SPDX-License-Identifier: BSD-3-Clause
// The recipe of a batch over the ranks of a job: rank 0 finds the tasks, hands them out, keeps
// ledger and status, and works like the others.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loom/batch/rank_loop.hpp"
#include "loom/batch/run.hpp"
#include "loom/runtime/ranks.hpp"

namespace loom::batch {

struct RanksJob {
  BatchJob batch;
  DispatchOptions dispatch{};
  double silence_s = 20;            ///< see RankJob
  double launch_s = 0, open_s = 0;  ///< see RankReport
  int isa = 0;                      ///< instruction set of this rank, as a number
  int device = 0;                   ///< what computes on this rank: RankHello::device
  /// Hears what all ranks agreed on, before anything else is asked of the job: the lowest
  /// instruction set, and the device of all or 0. Says how many tasks devices take at once.
  std::function<std::size_t(int isa, int device)> agreed{};
  std::function<void(const std::exception_ptr&)> fatal{};
};

struct RanksReport {
  BatchReport batch;              ///< whole on rank 0 only
  std::vector<RankReport> ranks;  ///< every rank's on rank 0, else its own
  std::string library;
  int nodes = 1;
  std::string trace;  ///< events of all ranks, on rank 0
};

/// All ranks call it, with the same job. Afterwards Ranks::finish().
[[nodiscard]] RanksReport run_batch_on_ranks(Ranks& ranks, RanksJob job, const Observer& observer,
                                             const Monitor::Progress& progress, Tracer* tracer);

}  // namespace loom::batch
