// SPDX-License-Identifier: BSD-3-Clause
// Which samples of a signal take part: the one rule of filters and maps. Seen by .cu.
#pragma once

#include <math.h>  // NOLINT(modernize-deprecated-headers): ::fabs, for nvcc as well

#include <cstdint>

#include "loom/base/scalar_lane.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

inline constexpr double kMostSignal =
    1e30;  ///< K: what no sum of squares loses, whatever its weight

/// Finite, and within kMostSignal.
[[nodiscard]] FL_LANE_HD inline bool is_signal(double value) noexcept {
  return ::fabs(value) <= kMostSignal;
}
/// That, and not flagged.
[[nodiscard]] FL_LANE_HD inline bool takes_part(double value, std::uint8_t flag) noexcept {
  return flag == 0 && is_signal(value);
}

}  // namespace skyloom
