// SPDX-License-Identifier: BSD-3-Clause
// How a telescope goes to and fro at a constant elevation, and where it looks meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "skyloom/ground/elevation_modulation.hpp"
#include "skyloom/ground/elevation_nod.hpp"
#include "skyloom/ground/schedule.hpp"
#include "skyloom/pointing/satellite.hpp"
#include "skyloom/pointing/stretch.hpp"

namespace skyloom {

struct MountOptions {
  double rate_deg_s = 1;           ///< of the scan
  bool rate_on_sky = true;         ///< the rate is that on the sky, not that of the mount
  double acceleration_deg_s2 = 1;  ///< of the mount in its turnarounds
  double sun_close_deg = 45;       ///< nearer than that is flagged
  NodOptions nods = {};            ///< before and after each scan
  /// Of the scan itself; with the nods' rate and acceleration of the elevation.
  ModulationOptions modulation = {};
  double step_deg = 0;  ///< up, where the mount turns after each pair of sweeps; likewise
};

/// Bits of shared flags, the peer's.
inline constexpr std::uint8_t kTurnaroundFlag = 4, kNodFlag = 8, kSunUpFlag = 16,
                              kSunCloseFlag = 32;
/// Of them what is left out of maps, where nobody says otherwise: the peer's default.
inline constexpr std::uint8_t kSharedMask = 15;

/// How many samples a scan has without nods, as the peer counts them.
[[nodiscard]] std::size_t scan_samples(const GroundScan& scan, double rate_hz) noexcept;

/// The mount's motion: sweeps of constant rate with turnarounds of constant acceleration between,
/// nods before and behind them.
struct GroundMotion {
  std::size_t before = 0;                  ///< samples of nods before the scan begins
  std::vector<double> azimuth, elevation;  ///< rad, each sample
  std::vector<std::uint8_t> flags;         ///< shared flags of each sample
  /// Names of intervals, the peer's, and what lies in them.
  std::vector<std::pair<std::string, std::vector<Stretch>>> intervals;

  /// Unix time of its first sample.
  [[nodiscard]] double start_s(const GroundScan& scan, double rate_hz) const noexcept {
    return scan.start_s - static_cast<double>(before) / rate_hz;
  }
  /// nullptr: no interval is called that.
  [[nodiscard]] const std::vector<Stretch>* interval(const std::string& name) const noexcept;
};

/// Sweeps and nods, without the Sun's flags and intervals. Throws as move_mount().
[[nodiscard]] GroundMotion sweep_mount(const GroundScan& scan, const MountOptions& mount,
                                       double rate_hz);

/// Sweeps, nods and the Sun. Begins at the least azimuth. Throws kUsage where rate or acceleration
/// are not above 0, and as check_nods() and modulate_elevation().
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
