// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/pointing/satellite.hpp"

#include <cmath>
#include <numbers>

#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

/// An angle that grows by `turns` a sample, modulo a whole turn.
double angle_of(double turns, std::int64_t sample) {
  const double all = turns * static_cast<double>(sample);
  return 2 * std::numbers::pi * (all - std::floor(all));
}

}  // namespace

void set_plate(Boresight& boresight, std::size_t i, double angle) noexcept {
  boresight(kPlateAngle, i) = angle;
  boresight(kPlateAngle + 1, i) = std::cos(4 * angle);
  boresight(kPlateAngle + 2, i) = std::sin(4 * angle);
}

Boresight satellite_boresight(const SatelliteScan& scan, double rate_hz, std::int64_t first,
                              std::size_t n, std::span<const Quaternion> axes) {
  const double spin = 1 / (scan.spin_minutes * 60 * rate_hz);
  const double precession = 1 / (scan.precession_minutes * 60 * rate_hz);
  const double year = scan.year_days > 0 ? 1 / (scan.year_days * 86400 * rate_hz) : 0;
  const Quaternion frame = scan.frame == Frame::kEquatorial ? about_x(kObliquity) : Quaternion{};
  const Quaternion from_equator =
      scan.frame == Frame::kEcliptic ? about_x(-kObliquity) : Quaternion{};
  const Quaternion to_axis = about_y(std::numbers::pi / 2);
  const Quaternion open_precession = about_x(scan.precession_angle_deg * kDegree);
  const Quaternion open_spin =
      about_x(scan.spin_angle_deg * kDegree) * about_z(std::numbers::pi / 2);
  const bool plate = scan.plate_rpm != 0;
  Boresight out(plate ? kPlateRows : kBoresightRows, n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t sample = first + static_cast<std::int64_t>(i);
    const Quaternion axis =
        axes.empty() ? frame * about_z(angle_of(year, sample)) * to_axis : from_equator * axes[i];
    const Quaternion q = axis * (about_z(angle_of(precession, sample)) *
                                 (open_precession * (about_z(angle_of(spin, sample)) * open_spin)));
    set_quaternion(out, i, q);
    if (plate) set_plate(out, i, angle_of(scan.plate_rpm / (60 * rate_hz), sample));
  }
  return out;
}

}  // namespace skyloom
