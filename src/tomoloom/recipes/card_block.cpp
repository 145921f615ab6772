// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/card_block.hpp"

#include "tomoloom/reconstruct/geometry.hpp"

namespace tomoloom {

bool card_prepares(const ReconJob& job, const ScanLayout& layout) noexcept {
  const bool moved = !layout.shift.empty() || !layout.axis.empty() || job.centre_last.has_value();
  return job.input != InputKind::kIntegrals && job.outlier == 0 &&
         DevicePrepare::knows(job.stripe.method) && !moved &&
         job.acquisition == Acquisition::kFull && job.window.bin <= 1;
}

CardBlock::CardBlock(const ReconJob& job, const ScanLayout& layout, DeviceSlices& card)
    : job_(job),
      layout_(layout),
      card_(card),
      prepare_({.angles = layout.angles,
                .columns = layout.columns,
                .flat_set = layout.flat_set,
                .flat_sets = layout.flat_sets,
                .counts = layout.counts,
                .air = job.air,
                .stripe = job.stripe},
               kSlicesPerGroup, card.device()) {}

PixelFlaws CardBlock::run(const RawBlock& block, const VolumeView& slices, Executor& executor) {
  const std::vector<Gain> gains = gains_of(job_, layout_, block);
  prepare_.begin({.rows = block.rows,
                  .counts = block.projections.counts.data(),
                  .floats = block.projections.floats.data(),
                  .gains = gains},
                 card_.stream(), card_.staging());
  card_.reconstruct(
      block.slices,
      [&](std::size_t first, std::size_t count, float* all, Stream& stream, HostMemory& staging) {
        prepare_.bring(first, count, all, stream, staging, executor);
      },
      slices, executor);
  return flaws_of(job_, layout_, block, gains, executor);
}

}  // namespace tomoloom
