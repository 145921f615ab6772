// SPDX-License-Identifier: BSD-3-Clause
// Where a satellite that spins and precesses looks. Knows no files and no detectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loom/base/array.hpp"
#include "skyloom/pointing/quaternion.hpp"

namespace skyloom {

/// Quaternions of many samples, a row each of x, y, z, w: what lanes can load.
using Boresight = Array2D<double>;

[[nodiscard]] inline Quaternion quaternion_at(const Boresight& boresight, std::size_t i) noexcept {
  return {boresight(0, i), boresight(1, i), boresight(2, i), boresight(3, i)};
}

enum class Frame { kEcliptic, kEquatorial };

struct SatelliteScan {
  double spin_minutes = 10, spin_angle_deg = 30;
  double precession_minutes = 50, precession_angle_deg = 65;
  /// The axis of precession moves evenly along the ecliptic, once in so many days; 0: it stands.
  double year_days = 365.25;
  Frame frame = Frame::kEcliptic;
};

/// q = axis * Rz(precession) * Rx(precession angle) * Rz(spin) * Rx(spin angle) * Rz(pi / 2) of the
/// samples [first, first + n) of a mission that begins with sample 0; axis = Rz(longitude)
/// Ry(pi/2): at first along x, from which longitudes are counted (TOAST's scan without an axis of
/// its own).
[[nodiscard]] Boresight satellite_boresight(const SatelliteScan& scan, double rate_hz,
                                            std::int64_t first, std::size_t n);

}  // namespace skyloom
