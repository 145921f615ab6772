// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/earth_orbit.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/ground/direction_table.hpp"
#include "skyloom/ground/erfa_time.hpp"
#include "skyloom/ground/horizon.hpp"

namespace skyloom {
namespace {

constexpr double kOrbitStep = 600;  // seconds

}  // namespace

EarthState earth_state(double time) {
  if (!(time >= kFirstTime && time <= kLastTime)) {
    throw Error(Status::kUsage, print("time %.17g: expected a Unix time of 1960 to 2100", time));
  }
  const JulianDate tt = terrestrial_date(time);
  double from_sun[2][3], from_middle[2][3];
  eraEpv00(tt.day, tt.part, from_sun, from_middle);
  constexpr double kAuKm = ERFA_DAU / 1000;
  const auto scaled = [](const double v[3], double by) {
    return Direction{v[0] * by, v[1] * by, v[2] * by};
  };
  return {scaled(from_middle[0], kAuKm), scaled(from_middle[1], kAuKm / ERFA_DAYSEC)};
}

Direction from_galactic(double lon_deg, double lat_deg) {
  double ra = 0, dec = 0, unit[3];
  eraG2icrs(lon_deg * ERFA_DD2R, lat_deg * ERFA_DD2R, &ra, &dec);
  eraS2c(ra, dec, unit);
  return {unit[0], unit[1], unit[2]};
}

std::vector<Quaternion> earth_axes(double start_s, double rate_hz, std::size_t samples) {
  const double last = static_cast<double>(samples - 1) / rate_hz;
  const std::size_t steps = std::max<std::size_t>(1, static_cast<std::size_t>(last / kOrbitStep));
  const DirectionTable orbit(
      last, steps, [&](double seconds) { return earth_state(start_s + seconds).position_km; });
  std::vector<Quaternion> out(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const Direction v = orbit.at(static_cast<double>(i) / rate_hz);
    const double length = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    out[i] = along_great_circle({0, 0, 1}, {v.x / length, v.y / length, v.z / length});
  }
  return out;
}

}  // namespace skyloom
