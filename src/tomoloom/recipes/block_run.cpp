// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/block_run.hpp"

#include "loom/base/stop.hpp"

namespace tomoloom {

BlockRun::BlockRun(ReconSetup& setup, const Observer& observer)
    : setup_(setup), source_(setup.source()), summary_(setup.summary()), observer_(observer) {}

void BlockRun::read_ahead(const SliceBlock& block) {
  if (!source_.spools()) begin_read(block);
}

void BlockRun::run(std::vector<SliceBlock> blocks, SliceSink& writer, Executor& executor) {
  blocks_ = std::move(blocks);
  BlockReconstruction work(setup_.rest(), setup_.frames().layout(), setup_.plan().image(),
                           setup_.engine(), observer_);
  std::size_t slices = summary_.resumed;
  Written written;  // waits for it where something throws: `writer` may go then
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    stop_if_asked(observer_);
    if (!next_.valid()) begin_read(blocks_[i]);
    auto [raw, read_time] = next_.get();
    summary_.read += read_time;
    if (summary_.overlap && i + 1 < blocks_.size()) begin_read(blocks_[i + 1]);
    StageClock clock;
    LargeVector<float> out = std::move(free_slices_);
    work.run(raw, executor, observer_, summary_.flaws, out);
    free_block_ = std::move(raw);
    summary_.compute += clock.lap();
    finish_write(written);
    written = begin_write(writer, blocks_[i].first, std::move(out));
    if (!summary_.overlap) finish_write(written);
    slices += blocks_[i].count;
    if (observer_.progress) observer_.progress("slices", slices, summary_.slices);
  }
  finish_write(written);
}

std::size_t BlockRun::pixels() const {
  std::size_t rows = 0;
  for (const SliceBlock& block : blocks_) rows += setup_.rows_of(block).count;
  return rows * summary_.layout.columns;
}

void BlockRun::begin_read(const SliceBlock& block) {
  next_ = std::async(std::launch::async, [this, block, rows = setup_.rows_of(block),
                                          raw = std::move(free_block_)]() mutable {
    StageClock clock(CpuOf::kThread);
    read_block(source_, rows.first, rows.count, observer_, raw);
    raw.before = summary_.first_row + block.first - rows.first;
    raw.slices = block.count;
    return std::pair(std::move(raw), clock.lap());
  });
}

BlockRun::Written BlockRun::begin_write(SliceSink& writer, std::size_t first,
                                        LargeVector<float> slices) {
  return std::async(std::launch::async, [&writer, first, slices = std::move(slices)]() mutable {
    StageClock clock(CpuOf::kThread);
    writer.write(first, slices);
    return std::pair(std::move(slices), clock.lap());
  });
}

void BlockRun::finish_write(Written& written) {
  if (!written.valid()) return;
  auto [slices, time] = written.get();
  free_slices_ = std::move(slices);
  summary_.write += time;
}

}  // namespace tomoloom
