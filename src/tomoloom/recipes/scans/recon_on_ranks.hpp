// SPDX-License-Identifier: BSD-3-Clause
// One scan by all ranks of a job: each reads and reconstructs blocks of rows that lie together,
// rank 0 alone writes; of more ranks than blocks several share one. The bytes are those of one
// process, since the blocks are.
#pragma once

#include <cstddef>
#include <optional>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/runtime/ranks.hpp"
#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom::scans {

struct RanksRecon {
  ReconSummary recon;  ///< times and flaws of all ranks together, memory of the one that takes most
  std::size_t threads = 0;  ///< of all ranks
  int idle = 0;             ///< ranks beyond the number of blocks, where those are not shared
};

/// All ranks call it, with the same job. Rank 0 returns what became of it, or throws what
/// reconstruct_scan() would, wherever it happened, and kInternal where a rank is silent for so
/// long: the others wait for the end, so that whoever catches it calls Ranks::abort(). Afterwards
/// Ranks::finish().
[[nodiscard]] std::optional<RanksRecon> reconstruct_on_ranks(Ranks& ranks, const ReconJob& job,
                                                             Executor& executor,
                                                             const Observer& observer,
                                                             double silence_s = 20);

}  // namespace tomoloom::scans
