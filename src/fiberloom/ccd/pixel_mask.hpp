// SPDX-License-Identifier: BSD-3-Clause
// Which pixels of a CCD are used, and why the others are not.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/ccd/ccd_frame.hpp"

namespace fiberloom {

/// A pixel whose value or weight no CCD gives.
struct WildPixel {
  std::size_t row = 0, column = 0;
  double image = 0, ivar = 0;
  bool in_ivar = false;  ///< the weight is wild, not the value
};

/// Which pixels apply_mask dropped. A pixel is counted once, under the first reason that holds.
struct MaskCounts {
  std::size_t pixels = 0;     ///< all
  std::size_t by_mask = 0;    ///< mask & mask_bits
  std::size_t zero_ivar = 0;  ///< ivar was 0 already
  std::size_t nan_ivar = 0;   ///< ivar NaN or Inf
  std::size_t negative_ivar = 0;
  std::size_t nan_image = 0;    ///< image NaN or Inf under positive ivar
  std::size_t wild_ivar = 0;    ///< ivar beyond kLeastIvar .. kMostIvar medians, or kIvarRange
  std::size_t wild_image = 0;   ///< |image| sqrt(ivar) > kMostSignal
  double median_ivar = 0;       ///< of pixels with a weight that are not masked
  std::vector<WildPixel> wild;  ///< the first few
  [[nodiscard]] std::size_t bad() const;
};

/// Weights beyond these, in units of the frame's median, are no CCD's: on a good frame the noise of
/// a pixel lies within a factor 1000 of the usual. Solved for, one such pixel would take the digits
/// of all others in its fibre.
inline constexpr double kLeastIvar = 1e-12, kMostIvar = 1e8;
/// In 1/electron^2: beyond these the results would leave the range of float32, as which they are
/// stored.
inline constexpr std::array<double, 2> kIvarRange{1e-35, 1e35};
/// A value so many times its own error is not known to that error in double precision once it has
/// met others.
inline constexpr double kMostSignal = 1e12;

/// Bits of the CCD mask that drop a pixel unless the user says otherwise: all but BADREADNOISE.
inline constexpr std::uint32_t kDefaultMaskBits = 767;

/// Makes ivar 0 and image 0 wherever a pixel must not be used. `mask` is [npix_y][npix_x] or empty.
/// Throws kSizeMismatch when shapes disagree.
MaskCounts apply_mask(CcdFrame& ccd, const Array2D<std::uint32_t>& mask,
                      std::uint32_t mask_bits = kDefaultMaskBits);

/// One line that names the first wild pixels, for a warning; empty where there are none.
[[nodiscard]] std::string wild_pixels_text(const MaskCounts& counts);

}  // namespace fiberloom
