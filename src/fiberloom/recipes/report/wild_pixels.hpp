// SPDX-License-Identifier: BSD-3-Clause
// Pixels that the fit used and that cannot be right: unmasked cosmic rays, absurd weights.
#pragma once

#include <cstddef>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::report {

struct WildPixel {
  std::size_t row = 0, col = 0;
  double pull = 0;  ///< of the residual; 0 for a weight
};

struct WildPixels {
  std::size_t lit = 0;  ///< pixels that were used and on which the model puts light
  std::size_t wild = 0, heavy = 0;
  std::vector<WildPixel> worst;     ///< of the residuals, the largest first; at most 20
  std::vector<WildPixel> heaviest;  ///< of the weights, in order of rows; at most 20
};

/// wild: residual above 10 sigma, sigma^2 = 1/ivar + (0.05 m)^2, m the largest of the model in the
/// pixel and its eight neighbours: light that is not there in the model (a cosmic ray), but not the
/// flank of a bright line whose shape is a little off; where the model goes on for a spot above and
/// below. heavy: ivar above 100 times the 99th
/// percentile.
[[nodiscard]] WildPixels wild_pixels(const Array2D<float>& residual, const Array2D<float>& model,
                                     const Array2D<float>& ivar);

}  // namespace fiberloom::report
