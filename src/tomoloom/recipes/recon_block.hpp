// SPDX-License-Identifier: BSD-3-Clause
// A block of rows on its way from counts to slices.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "tomoloom/exchange/block_source.hpp"
#include "tomoloom/prepare/half_acquisition.hpp"
#include "tomoloom/prepare/normalize.hpp"
#include "tomoloom/recipes/recon_job.hpp"
#include "tomoloom/recipes/slice_plan.hpp"

namespace tomoloom {

/// What is read of a block.
struct RawBlock {
  std::size_t first = 0, rows = 0;
  std::size_t before = 0, slices = 0;  ///< rows before the first that becomes a slice; slices
  FrameBlock projections, flats, darks;
};
/// Projections and rows of a block.
struct BlockPart {
  std::size_t first_frame = 0, frames = 0, first_row = 0, rows = 0;
};
/// All projections of the rows that become slices.
[[nodiscard]] inline BlockPart slices_of(const RawBlock& block, const ScanLayout& layout) noexcept {
  return {.frames = layout.angles, .first_row = block.before, .rows = block.slices};
}
/// Memory that `block` has is used again. Each row becomes a slice.
void read_block(BlockSource& source, std::size_t first, std::size_t rows, const Observer& observer,
                RawBlock& block);

/// Of a block's flats and darks, or of a scan's that has none: one of each set of flats. Pixels
/// that are blind are counted in them, saturated ones by themselves.
[[nodiscard]] std::vector<Gain> gains_of(const ReconJob& job, const ScanLayout& layout,
                                         const RawBlock& block);
[[nodiscard]] std::size_t count_saturated(const ReconJob& job, const RawBlock& block,
                                          const Gain& gain);
/// Rows of projections [first, first + frames) of a block that are 0 in all of its rows, as where
/// nobody has written them; none where flats saw no light either, or of line integrals.
[[nodiscard]] std::size_t count_unlit(const ReconJob& job, const FrameBlock& block,
                                      std::size_t first, std::size_t frames, const Gain& gain);
/// Values of projections that are no numbers, or as line integrals beyond any sum (copy_finite()):
/// others stand for them.
[[nodiscard]] std::size_t count_no_numbers(const ReconJob& job, const FrameBlock& block,
                                           BlockPart part, Executor& executor);
/// Adds what values of some 16 projections of the scan are beside their darks and flats, of those
/// in frames [first, first + frames), the first of which is projection `angle`; nothing of line
/// integrals.
void look_at_light(const ReconJob& job, const ScanLayout& layout, const FrameBlock& block,
                   std::size_t first, std::size_t frames, std::size_t angle,
                   const std::vector<Gain>& gains, PixelFlaws& flaws);
/// Of the set that has most of them.
[[nodiscard]] std::size_t count_blind(const std::vector<Gain>& gains);

/// Frame `frame` of a block, `pixels` large, as transmissions by the gain of its own set of flats,
/// the beam balanced by the air where that is wanted. `angle`: of the scan.
void to_transmissions(const ReconJob& job, const ScanLayout& layout, const FrameBlock& block,
                      std::size_t frame, std::size_t angle, const std::vector<Gain>& gains,
                      std::span<float> out);

/// The same of numbers that are line integrals already.
void copy_integrals(const FrameBlock& block, std::size_t frame, std::span<float> out);

/// The column that axes of their own are brought to: half way between the outermost.
[[nodiscard]] double common_axis(const ScanLayout& layout);
/// Moves rows [first, first + rows) so that all have one axis: that which the last row sees `lean`
/// columns from where the first does, half way; axes of their own, at the common one.
void straighten(std::span<float> integrals, const ScanLayout& layout, double lean,
                std::size_t first, std::size_t rows, Executor& executor);

/// What is not as it should be in a block.
[[nodiscard]] PixelFlaws flaws_of(const ReconJob& job, const ScanLayout& layout,
                                  const RawBlock& block, const std::vector<Gain>& gains,
                                  Executor& executor);

/// Counts -> line integrals [angle][row][column], stripes removed.
PixelFlaws prepare_block(const ReconJob& job, const ScanLayout& layout, const RawBlock& block,
                         Executor& executor, LargeVector<float>& integrals);

/// The same as wide as slices are: half acquisition widens them.
PixelFlaws prepare_lines(const ReconJob& job, const ScanLayout& layout, const RawBlock& block,
                         Executor& executor, LargeVector<float>& integrals);

/// Rings and what is outside the circle, of slices [slice][row][column], `image` wide.
void finish_slices(const ReconJob& job, std::size_t image, std::span<float> slices,
                   Executor& executor);

class CardBlock;

/// Blocks -> slices, one after the other, in memory of its own.
class BlockReconstruction {
 public:
  /// All but `observer` outlive it. `image`: rows and columns of a slice.
  BlockReconstruction(const ReconJob& job, const ScanLayout& layout, std::size_t image,
                      SliceEngine& engine, const Observer& observer = {});
  ~BlockReconstruction();

  /// Slices [slice][row][column] in memory that `out` may have. Adds the block's flaws to `flaws`.
  void run(const RawBlock& block, Executor& executor, const Observer& observer, PixelFlaws& flaws,
           LargeVector<float>& out);

 private:
  PixelFlaws make_slices(const RawBlock& block, Executor& executor, const Observer& observer,
                         const VolumeView& slices);

  const ReconJob& job_;
  const ScanLayout& layout_;
  SliceEngine& engine_;
  LargeVector<float> integrals_;     ///< [angle][row][column]
  std::unique_ptr<CardBlock> card_;  ///< null: the CPU prepares
  std::size_t image_;
};

}  // namespace tomoloom
