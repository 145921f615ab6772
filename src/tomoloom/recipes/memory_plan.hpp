// SPDX-License-Identifier: BSD-3-Clause
// How much memory a reconstruction takes at most, before anything is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tomoloom/exchange/block_source.hpp"
#include "tomoloom/recipes/recon_job.hpp"
#include "tomoloom/recipes/slice_plan.hpp"

namespace tomoloom {

struct MemoryPlan {
  std::uint64_t bytes = 0;
  /// The next block is read and the last one written while one is worked on.
  bool overlap = true;
};

/// Reading takes `buffers` beside the blocks, and `before` before the first of them is there.
struct ReadMemory {
  std::size_t beside = 0;  ///< rows that are read with a block's own
  std::uint64_t buffers = 0, before = 0;
};

/// A bound on the peak of a run by blocks of `block_rows`, on so many threads; without overlap
/// where that alone fits into `granted`. It is in `bytes` in any case: the caller compares.
[[nodiscard]] MemoryPlan plan_memory(const ReconJob& job, const ScanLayout& layout,
                                     const SlicePlan& plan, std::size_t block_rows,
                                     const ReadMemory& read, std::size_t threads,
                                     std::uint64_t granted);

/// Less than any run takes: known before tables are made, which may not fit themselves.
[[nodiscard]] std::uint64_t least_memory(const ReconJob& job, const ScanLayout& layout,
                                         std::size_t block_rows);

}  // namespace tomoloom
