// SPDX-License-Identifier: BSD-3-Clause
// Longitude and latitude on the sky, and the direction that they mean.
#pragma once

#include <cmath>

#include "skyloom/pixels/healpix.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {

/// Degrees.
struct SkyPlace {
  double lon_deg = 0, lat_deg = 0;
};

[[nodiscard]] inline Direction direction_of(const SkyPlace& place) noexcept {
  const double flat = std::cos(place.lat_deg * kDegree);
  return {flat * std::cos(place.lon_deg * kDegree), flat * std::sin(place.lon_deg * kDegree),
          std::sin(place.lat_deg * kDegree)};
}

[[nodiscard]] inline SkyPlace place_of(const Direction& v) noexcept {
  const double lon = std::atan2(v.y, v.x) / kDegree;
  return {lon < 0 ? lon + 360 : lon, std::atan2(v.z, std::hypot(v.x, v.y)) / kDegree};
}

}  // namespace skyloom
