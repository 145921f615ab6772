// SPDX-License-Identifier: BSD-3-Clause
// What a joint fit does between pixels: P^T F (F^T F)^-1 F^T P as a sum of squares V V^T. Knows no
// detectors and no maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skyloom/filters/joint_fit.hpp"

namespace skyloom {

/// Samples of a detector as it sees them: pixel by a number of its own, and weights of Q and U.
struct SeenSamples {
  std::span<const std::uint32_t> pixels;
  std::span<const double> q, u;
  std::span<const std::uint8_t> good;  ///< 1 where a sample takes part
};

/// V of some pixels, I, Q and U of each. In blocks of kTemplateBlock of these numbers, [rank] rows
/// each, as kernels mix them; behind the last pixel 0.
struct PixelFactor {
  std::vector<std::uint32_t> pixels;  ///< growing
  std::size_t rank = 0;
  std::vector<double> rows;
  [[nodiscard]] std::size_t blocks() const noexcept { return blocks_of(pixels.size()); }
  [[nodiscard]] static constexpr std::size_t blocks_of(std::size_t pixels) noexcept {
    return (3 * pixels + kTemplateBlock - 1) / kTemplateBlock;
  }
};

/// One for the polynomials of each stretch, one for all shared templates; samples of stretches that
/// were not fitted are none of `seen.good`. O(n (own + shared)) and some multiples of pixels x
/// shared^2.
[[nodiscard]] std::vector<PixelFactor> pixel_factors(const JointTemplates& templates,
                                                     const JointFit& fit, const SeenSamples& seen,
                                                     std::size_t pixels);

}  // namespace skyloom
