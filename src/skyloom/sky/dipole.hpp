// SPDX-License-Identifier: BSD-3-Clause
// What motion through the microwave background adds to it. Knows no time and no place.
#pragma once

#include "skyloom/pixels/healpix.hpp"

namespace skyloom {

inline constexpr double kBackgroundKelvin = 2.72548;  ///< Fixsen 2009
inline constexpr double kLightKmS = 299792.458;

/// Of a frame that moves with `second` (in the frame that moves with `first`), seen from where
/// `first` is: relativistic. km/s.
[[nodiscard]] Direction added_velocity(const Direction& first, const Direction& second) noexcept;

/// T (1 / (gamma (1 - beta . n)) - 1), kelvin: with all orders of beta. `look` is a unit vector.
[[nodiscard]] double dipole_kelvin(const Direction& look, const Direction& velocity_km_s) noexcept;

}  // namespace skyloom
