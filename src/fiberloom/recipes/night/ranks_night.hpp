// SPDX-License-Identifier: BSD-3-Clause
// The recipe of an exposure or a night over the ranks of an MPI job: rank 0 finds the frames, hands
// them out, keeps ledger and status, and works like the others.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fiberloom/recipes/night/night.hpp"
#include "fiberloom/recipes/night/rank_loop.hpp"
#include "loom/runtime/ranks.hpp"

namespace fiberloom::night {

struct RanksJob {
  NightJob night;
  DispatchOptions dispatch;
  double silence_s = 20;            ///< see RankJob
  double launch_s = 0, open_s = 0;  ///< see RankReport
  std::function<void(const std::exception_ptr&)> fatal;
};

struct RanksReport {
  NightReport night;              ///< whole on rank 0 only
  std::vector<RankReport> ranks;  ///< every rank's on rank 0, else its own
  std::string library;
  int nodes = 1;
  std::string trace;  ///< events of all ranks, on rank 0
};

/// All ranks call it, with the same job and each with its own engine, which computes if all have
/// one of its kind, else the CPU does. Afterwards Ranks::finish().
[[nodiscard]] RanksReport run_night_on_ranks(Ranks& ranks, RanksJob job, Engine engine,
                                             const Observer& observer,
                                             const Monitor::Progress& progress, Tracer* tracer);

}  // namespace fiberloom::night
