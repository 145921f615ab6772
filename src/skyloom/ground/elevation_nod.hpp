// SPDX-License-Identifier: BSD-3-Clause
// Elevation nods: a mount goes up and down before or after a scan, so that each detector tells how
// strongly it sees the air. Knows no sweeps.
#pragma once

#include <vector>

namespace skyloom {

enum class NodsAt { kStart, kEnd, kBoth };

struct NodOptions {
  std::vector<double> steps_deg = {};  ///< from the scan's elevation, one by one; none: no nods
  NodsAt at = NodsAt::kStart;
  double rate_deg_s = 1, acceleration_deg_s2 = 1;  ///< of the elevation
  [[nodiscard]] bool before() const noexcept { return !steps_deg.empty() && at != NodsAt::kEnd; }
  [[nodiscard]] bool behind() const noexcept { return !steps_deg.empty() && at != NodsAt::kStart; }
};

/// How fast a mount turns about one of its axes: rad/s, rad/s^2.
struct AxisSpeed {
  double rate = 0, acceleration = 0;
};

struct NodPath {
  std::vector<double> azimuth, elevation;  ///< rad, each sample
};

/// From rest at (azimuth, elevation) to (azimuth_to, scan_elevation + each step), with a rest at
/// each; samples from the first moment on, the last before the end. Angles in rad.
[[nodiscard]] NodPath nod_path(const NodOptions& options, double azimuth, double elevation,
                               double azimuth_to, double scan_elevation, AxisSpeed turn,
                               double rate_hz);

/// Throws kUsage where rate or acceleration are not above 0, an elevation is not above 0 and below
/// 90 degrees, or nods before a scan do not end at its elevation.
void check_nods(const NodOptions& options, double scan_elevation_deg);

}  // namespace skyloom
