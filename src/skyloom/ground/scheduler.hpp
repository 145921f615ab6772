// SPDX-License-Identifier: BSD-3-Clause
// A small scheduler: which patch of the sky a telescope on the ground scans when, and how.
#pragma once

#include <string>
#include <vector>

#include "loom/base/log.hpp"
#include "skyloom/ground/schedule.hpp"

namespace skyloom {

/// An area of the sky with straight sides in right ascension and declination.
struct Patch {
  std::string name;
  double weight = 1;               ///< its share of the time, against the others'
  std::vector<Direction> outline;  ///< ICRS
};

/// "NAME,WEIGHT,LON,LAT,WIDTH" (middle and width of a square) or
/// "NAME,WEIGHT,LON1,LAT1,LON2,LAT2" (opposite corners), degrees. Throws kUsage.
[[nodiscard]] Patch patch_of(const std::string& text);

struct ScheduleOptions {
  std::string site_name = "atacama", telescope_name = "telescope";
  Site site = {.latitude_deg = -22.958, .longitude_deg = -67.786, .height_m = 5200};
  std::string start = "2026-03-01 00:00:00", stop = "2026-03-02 00:00:00";  ///< UTC
  std::vector<std::string> patches;
  double elevation_min_deg = 30, elevation_max_deg = 80;
  double sun_angle_deg = 30, moon_angle_deg = 20;  ///< no nearer
  double sun_elevation_max_deg = 90;               ///< nothing is scanned while it is higher
  double scan_minutes = 60;                        ///< at most, of a scan at one elevation
  double gap_s = 60;                               ///< between scans
  bool pole = false;                               ///< rasters instead of drifts
  double pole_step_deg = 0.25;                     ///< between the elevations of a raster
  double pole_minutes = 50;                        ///< of a scan of one
};

/// While a patch rises it is scanned at the elevation of its highest point, until all of it has
/// passed that elevation; while it sets, at that of its lowest. Of the patches that may be scanned
/// the one comes next that had the least time for its weight. At a pole, where nothing rises, a
/// patch that is high enough as a whole is scanned row by row from below, at elevations in the
/// middle of equal steps: one pass, as many subscans as rows; it ends where Sun, Moon or --stop are
/// in the way. Throws kUsage for options that make
/// no sense, and where no scan is possible. Observer: progress "days", stop.
[[nodiscard]] GroundSchedule make_schedule(const ScheduleOptions& options,
                                           const Observer& observer = {});

}  // namespace skyloom
