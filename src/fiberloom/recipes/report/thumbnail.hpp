// SPDX-License-Identifier: BSD-3-Clause
// A CCD image made small: means or significances of blocks of pixels, in colours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/recipes/report/png.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::report {

/// 255 colours from dark to bright, or from blue over white to orange; made by us in linear light
/// from a few anchors, told apart by colour-blind eyes.
[[nodiscard]] Palette sequential_palette();
[[nodiscard]] Palette diverging_palette();
/// "#rrggbb" of n colours evenly spaced over the palette, for the page's own maps.
[[nodiscard]] std::vector<std::string> palette_stops(const Palette& palette, int n);

/// How a value becomes a place on the colour bar, 0 to 1: asinh((v - low) / soft), scaled; soft 0:
/// linear.
struct Stretch {
  double low = 0, high = 1, soft = 0;
  [[nodiscard]] double place(double value) const noexcept;
};

/// Pixels that one dot stands for.
struct Block {
  std::size_t rows = 1, cols = 1;
};

/// The smallest blocks for which an image is at most `limit` of them wide and high; each side
/// alone, so that a narrow image keeps its columns.
[[nodiscard]] Block block_for(std::size_t rows, std::size_t cols, std::size_t limit);

/// Part of a CCD: rows [row, row + rows), columns [col, col + cols).
struct Region {
  std::size_t row = 0, col = 0, rows = 0, cols = 0;
};
/// The part of `image` in the region, which must lie within. An empty image stays empty.
[[nodiscard]] Array2D<float> crop(const Array2D<float>& image, const Region& region);

/// Where `model` puts light, with `margin` pixels around it; the whole image where it puts none.
[[nodiscard]] Region lit_region(const Array2D<float>& model, std::size_t margin);

/// Mean over the pixels of each block with `ivar` > 0 (all of them where ivar is empty); NaN where
/// there are none. Row 0 is the CCD's lowest row.
[[nodiscard]] Array2D<double> block_mean(const Array2D<float>& image, const Array2D<float>& ivar,
                                         Block block);

/// Sum over the pixels of each block on which the model puts light / its standard deviation: how
/// far a block is off, in sigma. Elsewhere (beyond the wavelengths extracted) a residual is the
/// whole image.
[[nodiscard]] Array2D<double> block_significance(const Array2D<float>& residual,
                                                 const Array2D<float>& model,
                                                 const Array2D<float>& ivar, Block block);

/// From the 1st to the 99.5th percentile of the blocks, asinh.
[[nodiscard]] Stretch image_stretch(const Array2D<double>& blocks);

/// A PNG with the highest row on top, as a CCD is shown.
[[nodiscard]] std::vector<std::uint8_t> draw(const Array2D<double>& blocks, const Stretch& stretch,
                                             const Palette& palette);

}  // namespace fiberloom::report
