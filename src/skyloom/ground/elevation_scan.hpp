// SPDX-License-Identifier: BSD-3-Clause
// How a telescope goes to and fro at a constant elevation, and where it looks meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "skyloom/ground/schedule.hpp"
#include "skyloom/pointing/satellite.hpp"
#include "skyloom/pointing/stretch.hpp"

namespace skyloom {

struct MountOptions {
  double rate_deg_s = 1;           ///< of the scan
  bool rate_on_sky = true;         ///< the rate is that on the sky, not that of the mount
  double acceleration_deg_s2 = 1;  ///< of the mount in its turnarounds
  double sun_close_deg = 45;       ///< nearer than that is flagged
};

/// Bits of shared flags, the peer's.
inline constexpr std::uint8_t kTurnaroundFlag = 4, kSunUpFlag = 16, kSunCloseFlag = 32;
/// Of them what is left out of maps, where nobody says otherwise: the peer's default.
inline constexpr std::uint8_t kSharedMask = 15;

/// How many samples a scan has, and where its first one lies in time: as the peer counts them.
[[nodiscard]] std::size_t scan_samples(const GroundScan& scan, double rate_hz) noexcept;

/// The mount's motion: sweeps of constant rate with turnarounds of constant acceleration between.
struct GroundMotion {
  std::vector<double> azimuth, elevation;  ///< rad, each sample
  std::vector<std::uint8_t> flags;         ///< shared flags of each sample
  /// Names of intervals, the peer's, and what lies in them.
  std::vector<std::pair<std::string, std::vector<Stretch>>> intervals;

  /// nullptr: no interval is called that.
  [[nodiscard]] const std::vector<Stretch>* interval(const std::string& name) const noexcept;
};

/// Sweeps alone, without the Sun's flags and intervals.
[[nodiscard]] GroundMotion sweep_mount(const GroundScan& scan, const MountOptions& mount,
                                       double rate_hz);

/// Sweeps and the Sun. Begins at the least azimuth. Throws kUsage where rate or acceleration are
/// not above 0.
[[nodiscard]] GroundMotion move_mount(const GroundScan& scan, const Site& site,
                                      const MountOptions& mount, double rate_hz);

/// From the focal plane to the horizon: its x axis points to lower elevations, turned by the
/// boresight angle.
[[nodiscard]] Quaternion mount_quaternion(double azimuth, double elevation,
                                          double boresight_angle_deg) noexcept;

/// Quaternions from the horizon to ICRS of a motion, sample by sample.
[[nodiscard]] Boresight ground_boresight(const GroundScan& scan, const Site& site,
                                         const GroundMotion& motion, double rate_hz,
                                         double plate_rpm);

}  // namespace skyloom
