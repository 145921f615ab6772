// SPDX-License-Identifier: BSD-3-Clause
// From counts to line integrals: dark subtracted, divided by the flat, minus the logarithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loom/simd/isa.hpp"
#include "tomoloom/foundation.hpp"
#include "tomoloom/prepare/normalize_lane.hpp"

namespace tomoloom {

enum class Averaging { kMean, kMedian };

/// The mean or median of frames, pixel by pixel; frames [frame][pixel], at least one.
[[nodiscard]] std::vector<float> average_frames(std::span<const float> frames, std::size_t pixels,
                                                Averaging averaging);
[[nodiscard]] std::vector<float> average_frames(std::span<const std::uint16_t> frames,
                                                std::size_t pixels, Averaging averaging);

/// What a pixel's counts are subtracted from and multiplied by to be its transmission.
struct Gain {
  std::vector<float> dark;
  std::vector<float> scale;  ///< 1 / (flat - dark); 0 where the pixel is blind
  std::size_t blind = 0;     ///< pixels whose flat is not above their dark
};
[[nodiscard]] Gain make_gain(std::span<const float> flat, std::span<const float> dark);

/// Pixels that are, in at least half of the frames, at the greatest value of all frames where that
/// is the end of a converter's range (255, 1023, 4095, 16383 or 65535): what they saw may have been
/// more. Of frames [frame][pixel]; those of the darks are not asked, a pixel that is always at the
/// end is blind.
[[nodiscard]] std::vector<std::size_t> saturated_pixels(std::span<const float> frames,
                                                        std::size_t pixels);
[[nodiscard]] std::vector<std::size_t> saturated_pixels(std::span<const std::uint16_t> frames,
                                                        std::size_t pixels);

/// What becomes of transmissions.
enum class Logarithm { kMinusLog, kNone };

/// One frame -> transmissions, kLeastTransmission at least, or line integrals; always finite. The
/// logarithm is good to 3e-7.
void normalize(std::span<const std::uint16_t> counts, const Gain& gain, Logarithm logarithm,
               std::span<float> out, Isa isa = active_isa());
void normalize(std::span<const float> counts, const Gain& gain, Logarithm logarithm,
               std::span<float> out, Isa isa = active_isa());

/// Transmissions -> line integrals, as normalize() has them of a gain of 1.
void minus_log(std::span<float> transmissions, Isa isa = active_isa());

/// Line integrals from here on have sums that may be no numbers.
inline constexpr float kMostIntegral = 1e20F;
/// Numbers that are none, or whose sums would be none (kMostIntegral and more), become 0: one of
/// them would spread over its slice and the one beside it.
void copy_finite(std::span<const float> in, std::span<float> out);

}  // namespace tomoloom
