// SPDX-License-Identifier: BSD-3-Clause
// Finds glitches: samples far from the median of those around them. Knows no detectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// Of three samples every third is the median itself: the width of the distances tells nothing of
/// the noise, and round after round flags nearly all of them.
inline constexpr std::size_t kLeastDeglitchWindow = 5;

struct DeglitchOptions {
  double sigmas = 0;         ///< from the median: more is a glitch; 0: none is looked for
  std::size_t window = 101;  ///< samples that the median is of
  std::size_t radius = 5;    ///< samples on either side that are flagged as well
  [[nodiscard]] bool any() const noexcept { return sigmas > 0; }
};

/// Flags samples of a stretch whose distance from the running median (of as many good ones before
/// as behind, fewer at the ends) is above `sigmas` times its robust width (1.4826 medians of the
/// distances), again and again until there are no more, ten times at most. Flagged samples, and
/// those beyond 1e30 or not finite, take no part. Returns how many samples were flagged. O(n
/// window) at worst, 0.1 us a sample and round.
std::size_t flag_glitches(const DeglitchOptions& options, std::span<const double> values,
                          std::span<std::uint8_t> flags);

}  // namespace skyloom
