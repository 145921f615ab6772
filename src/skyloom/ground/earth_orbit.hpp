// SPDX-License-Identifier: BSD-3-Clause
// Where the Earth is in the solar system.
#pragma once

#include <cstddef>
#include <vector>

#include "skyloom/pixels/healpix.hpp"
#include "skyloom/pointing/quaternion.hpp"

namespace skyloom {

/// From the barycentre of the solar system, ICRS: km and km/s. Unix time, from kFirstTime to
/// kLastTime (horizon.hpp); within 20 km of the ephemeris DE405.
struct EarthState {
  Direction position_km, velocity_km_s;
};
[[nodiscard]] EarthState earth_state(double time);

/// From galactic coordinates to ICRS.
[[nodiscard]] Direction from_galactic(double lon_deg, double lat_deg);

/// Rotations, the shortest, that take the z axis away from the barycentre toward where the Earth
/// is at each sample: the axis of precession of a satellite that stays behind the Earth. As TOAST
/// has it: positions of every ten minutes, with straight lines between.
[[nodiscard]] std::vector<Quaternion> earth_axes(double start_s, double rate_hz,
                                                 std::size_t samples);

}  // namespace skyloom
