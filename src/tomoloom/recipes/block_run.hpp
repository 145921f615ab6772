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
  /// All outlive it; `setup` has its plan.
  BlockRun(ReconSetup& setup, std::vector<SliceBlock> blocks, SliceSink& writer,
           const Observer& observer);

  /// The next block is read and the last one written while one is worked on, where memory allows.
  /// Adds to the summary what it took, and the flaws that it met.
  void run(Executor& executor);
  /// Of the blocks of this run.
  [[nodiscard]] std::size_t pixels() const;

 private:
  void begin_read(std::size_t i);
  void begin_write(std::size_t first, LargeVector<float> slices);
  void finish_write();

  const ReconSetup& setup_;
  BlockSource& source_;
  SliceSink& writer_;
  ReconSummary& summary_;
  const Observer& observer_;
  BlockReconstruction work_;
  std::vector<SliceBlock> blocks_;
  std::future<std::pair<RawBlock, StageTime>> next_;
  std::future<std::pair<LargeVector<float>, StageTime>> written_;
  // what a block has taken is the next one's: fresh pages would be cleared twice
  RawBlock free_block_;
  LargeVector<float> free_slices_;
};

}  // namespace tomoloom
