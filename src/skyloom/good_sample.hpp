// SPDX-License-Identifier: BSD-3-Clause
// Which samples of a signal take part: the one rule of filters and maps.
#pragma once

#include <cmath>
#include <cstdint>

#include "skyloom/foundation.hpp"

namespace skyloom {

inline constexpr double kMostSignal =
    1e30;  ///< K: what no sum of squares loses, whatever its weight

/// Finite, and within kMostSignal.
[[nodiscard]] inline bool is_signal(double value) noexcept {
  return std::fabs(value) <= kMostSignal;
}
/// That, and not flagged.
[[nodiscard]] inline bool takes_part(double value, std::uint8_t flag) noexcept {
  return flag == 0 && is_signal(value);
}

}  // namespace skyloom
