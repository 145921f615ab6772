// SPDX-License-Identifier: BSD-3-Clause
// Where a satellite that spins and precesses looks. Knows no files and no detectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "loom/base/array.hpp"
#include "skyloom/pointing/quaternion.hpp"

namespace skyloom {

/// Quaternions of many samples, a row each of x, y, z, w: what lanes can load. Where a half-wave
/// plate turns, a row more of its angle h (rad), of cos 4h and of sin 4h.
using Boresight = Array2D<double>;
inline constexpr std::size_t kBoresightRows = 4, kPlateRows = 7;  ///< without and with a plate
inline constexpr std::size_t kPlateAngle = 4;                     ///< the row of h

[[nodiscard]] inline bool has_plate(const Boresight& boresight) noexcept {
  return boresight.rows() == kPlateRows;
}
/// Sets the plate's rows of a sample.
void set_plate(Boresight& boresight, std::size_t i, double angle) noexcept;

[[nodiscard]] inline Quaternion quaternion_at(const Boresight& boresight, std::size_t i) noexcept {
  return {boresight(0, i), boresight(1, i), boresight(2, i), boresight(3, i)};
}

inline void set_quaternion(Boresight& boresight, std::size_t i, const Quaternion& q) noexcept {
  boresight(0, i) = q.x;
  boresight(1, i) = q.y;
  boresight(2, i) = q.z;
  boresight(3, i) = q.w;
}

enum class Frame { kEcliptic, kEquatorial };

struct SatelliteScan {
  double spin_minutes = 10, spin_angle_deg = 30;
  double precession_minutes = 50, precession_angle_deg = 65;
  /// The axis of precession moves evenly along the ecliptic, once in so many days; 0: it stands.
  double year_days = 365.25;
  bool follows_earth = false;  ///< instead of that: away from the Sun, as the Earth goes around it
  Frame frame = Frame::kEcliptic;
  double plate_rpm = 0;  ///< turns a minute of a half-wave plate, from angle 0; 0: there is none
};

/// q = axis * Rz(precession) * Rx(precession angle) * Rz(spin) * Rx(spin angle) * Rz(pi / 2) of the
/// samples [first, first + n) of a mission that begins with sample 0; axis = Rz(longitude)
/// Ry(pi/2): at first along x, from which longitudes are counted (TOAST's scan without an axis of
/// its own).
/// `axes`: rotations of the z axis to the axis of precession in the equatorial frame, one a sample,
/// instead of that.
[[nodiscard]] Boresight satellite_boresight(const SatelliteScan& scan, double rate_hz,
                                            std::int64_t first, std::size_t n,
                                            std::span<const Quaternion> axes = {});

}  // namespace skyloom
