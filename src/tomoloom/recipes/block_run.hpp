// SPDX-License-Identifier: BSD-3-Clause
// Blocks of rows on their way: read, worked on, written, at the same time.
#pragma once

#include <future>
#include <utility>
#include <vector>

#include "loom/base/executor.hpp"
#include "tomoloom/recipes/recon_block.hpp"
#include "tomoloom/recipes/recon_setup.hpp"

namespace tomoloom {

class BlockRun {
 public:
  /// Both outlive it; `setup` has its rows and its axis.
  BlockRun(ReconSetup& setup, const Observer& observer);

  /// Begins to read run()'s first block, while the plan is made and the volume opened. Not where
  /// rows go through a spool, which others fill with the executor's threads.
  void read_ahead(const SliceBlock& block);
  /// The next block is read and the last one written while one is worked on, where memory allows.
  /// Adds to the summary what it took, and the flaws that it met. `setup` has its plan.
  void run(std::vector<SliceBlock> blocks, SliceSink& writer, Executor& executor);
  /// Of the blocks of this run.
  [[nodiscard]] std::size_t pixels() const;

 private:
  /// Slices on their way to the disk, which then are free for the next ones.
  using Written = std::future<std::pair<LargeVector<float>, StageTime>>;

  void begin_read(const SliceBlock& block);
  [[nodiscard]] static Written begin_write(SliceSink& writer, std::size_t first,
                                           LargeVector<float> slices);
  void finish_write(Written& written);

  ReconSetup& setup_;
  BlockSource& source_;
  ReconSummary& summary_;
  const Observer& observer_;
  std::vector<SliceBlock> blocks_;
  std::future<std::pair<RawBlock, StageTime>> next_;
  // what a block has taken is the next one's: fresh pages would be cleared twice
  RawBlock free_block_;
  LargeVector<float> free_slices_;
};

}  // namespace tomoloom
