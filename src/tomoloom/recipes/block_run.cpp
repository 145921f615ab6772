// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/block_run.hpp"

#include "loom/base/stop.hpp"

namespace tomoloom {

BlockRun::BlockRun(ReconSetup& setup, std::vector<SliceBlock> blocks, SliceSink& writer,
                   const Observer& observer)
    : setup_(setup),
      source_(setup.source()),
      writer_(writer),
      summary_(setup.summary()),
      observer_(observer),
      work_(setup.rest(), setup.frames().layout(), setup.plan().image(), setup.engine()),
      blocks_(std::move(blocks)) {}

void BlockRun::run(Executor& executor) {
  std::size_t slices = summary_.resumed;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    stop_if_asked(observer_);
    if (!next_.valid()) begin_read(i);
    auto [raw, read_time] = next_.get();
    summary_.read += read_time;
    if (summary_.overlap && i + 1 < blocks_.size()) begin_read(i + 1);
    StageClock clock;
    LargeVector<float> out = std::move(free_slices_);
    work_.run(raw, executor, observer_, summary_.flaws, out);
    free_block_ = std::move(raw);
    summary_.compute += clock.lap();
    finish_write();
    begin_write(blocks_[i].first, std::move(out));
    if (!summary_.overlap) finish_write();
    slices += blocks_[i].count;
    if (observer_.progress) observer_.progress("slices", slices, summary_.slices);
  }
  finish_write();
}

std::size_t BlockRun::pixels() const {
  std::size_t rows = 0;
  for (const SliceBlock& block : blocks_) rows += setup_.rows_of(block).count;
  return rows * summary_.layout.columns;
}

void BlockRun::begin_read(std::size_t i) {
  next_ =
      std::async(std::launch::async, [this, block = blocks_[i], rows = setup_.rows_of(blocks_[i]),
                                      raw = std::move(free_block_)]() mutable {
        StageClock clock(CpuOf::kThread);
        read_block(source_, rows.first, rows.count, observer_, raw);
        raw.before = summary_.first_row + block.first - rows.first;
        raw.slices = block.count;
        return std::pair(std::move(raw), clock.lap());
      });
}

void BlockRun::begin_write(std::size_t first, LargeVector<float> slices) {
  written_ = std::async(std::launch::async, [this, first, slices = std::move(slices)]() mutable {
    StageClock clock(CpuOf::kThread);
    writer_.write(first, slices);
    return std::pair(std::move(slices), clock.lap());
  });
}

void BlockRun::finish_write() {
  if (!written_.valid()) return;
  auto [slices, time] = written_.get();
  free_slices_ = std::move(slices);
  summary_.write += time;
}

}  // namespace tomoloom
