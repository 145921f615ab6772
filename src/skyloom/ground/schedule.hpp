// SPDX-License-Identifier: BSD-3-Clause
// What a telescope on the ground is to do: scans to and fro at constant elevations, one after the
// other. As text in the peer's formats.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "loom/files/atomic_file.hpp"
#include "skyloom/ground/horizon.hpp"

namespace skyloom {

/// One scan at a constant elevation. Times are Unix time.
struct GroundScan {
  std::string name;
  double start_s = 0, stop_s = 0;
  double boresight_angle_deg = 0;
  double azimuth_min_deg = 0, azimuth_max_deg = 0;  ///< the second may be the smaller: over north
  double elevation_deg = 0;
  long scan = 0, subscan = 0;

  /// As the peer names an observation of it.
  [[nodiscard]] std::string session() const {
    return name + "-" + std::to_string(scan) + "-" + std::to_string(subscan);
  }
};

struct GroundSchedule {
  std::string site_name = "Unknown", telescope_name = "Unknown";
  Site site = {};
  std::vector<GroundScan> scans;
};

inline constexpr std::size_t kMostScheduleBytes = std::size_t{1} << 28;

/// TOAST's versions 1 to 4 (lines of 24, 22, 11 or 9 fields between |, or blanks) and 5 (ECSV).
/// Throws kNotFound; kCorrupt with the line's number, what was found and what was expected: times
/// that do not grow, an elevation outside (0, 90), no scan at all.
[[nodiscard]] GroundSchedule read_schedule(const std::string& path);
/// Of text; `path` is for messages.
[[nodiscard]] GroundSchedule parse_schedule(const std::string& text, const std::string& path);

/// Version 4 with enough digits: the peer's own has two of azimuth and elevation, whole seconds.
[[nodiscard]] std::string schedule_text(const GroundSchedule& schedule);

/// "2026-03-01 04:00:00", also with T, a fraction, and Z or +HH:MM behind it; without: UTC. Throws
/// kUsage.
[[nodiscard]] double unix_time_of(const std::string& text);
/// UTC, to the second or with what is behind it to the micro second.
[[nodiscard]] std::string utc_text(double unix_time);

}  // namespace skyloom
