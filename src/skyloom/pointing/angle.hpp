// SPDX-License-Identifier: BSD-3-Clause
// Angles, radians.
#pragma once

#include <numbers>

#include "skyloom/foundation.hpp"

namespace skyloom {

inline constexpr double kTurn = 2 * std::numbers::pi;
inline constexpr double kDegree = std::numbers::pi / 180;
inline constexpr double kArcsec = kDegree / 3600;
inline constexpr double kObliquity = 84381.406 * kArcsec;  ///< of the ecliptic at J2000, IAU 2006

}  // namespace skyloom
