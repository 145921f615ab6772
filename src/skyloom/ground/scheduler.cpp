// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>

#include "loom/base/error.hpp"
#include "loom/base/number_text.hpp"
#include "loom/base/print.hpp"
#include "loom/base/split.hpp"
#include "loom/base/stop.hpp"
#include "skyloom/pointing/sky_place.hpp"

namespace skyloom {
namespace {

constexpr double kNodeStep = 600;  // seconds: 0.1 m/s of the observer's velocity
constexpr double kLookStep = 60;   // between times that are looked at
constexpr std::size_t kSidePoints = 8;
constexpr double kAngleStep = 5 * kDegree;  // along a scan, where Sun and Moon are looked for
constexpr double kNarrowest = 0.5 * kDegree;
constexpr double kLeastScan = 180;  // seconds: shorter scans are not worth a turn of the mount

/// Scans that are possible, of a patch.
struct Choice {
  std::vector<GroundScan> scans;
  std::size_t patch = 0;
};

class Scheduler {
 public:
  Scheduler(const ScheduleOptions& options, std::vector<Patch> patches, double start, double stop)
      : options_(options),
        patches_(std::move(patches)),
        stop_(stop),
        sky_(options.site, start, stop + options.scan_minutes * 60, kNodeStep),
        spent_(patches_.size(), 0.0),
        passes_(patches_.size(), 0) {}

  std::vector<GroundScan> run(double start, const Observer& observer) {
    std::vector<GroundScan> out;
    const auto days = static_cast<std::size_t>(std::ceil((stop_ - start) / 86400));
    for (double t = start; t + kLeastScan <= stop_;) {
      stop_if_asked(observer);
      if (observer.progress) {
        observer.progress("days", static_cast<std::size_t>((t - start) / 86400), days);
      }
      const std::optional<Choice> choice = best(t);
      if (!choice) {
        t += kLookStep;
        continue;
      }
      const long pass = passes_[choice->patch]++;
      for (GroundScan scan : choice->scans) {
        scan.scan = pass;
        spent_[choice->patch] += scan.stop_s - scan.start_s;
        out.push_back(scan);
        t = after(scan);
      }
    }
    return out;
  }

 private:
  [[nodiscard]] double after(const GroundScan& scan) const {
    return scan.stop_s + std::max(options_.gap_s, 1.0);
  }

  std::optional<Choice> best(double t) {
    if (sky_.sun(t).elevation > options_.sun_elevation_max_deg * kDegree) return {};
    std::optional<Choice> out;
    double least = 0;
    for (std::size_t p = 0; p < patches_.size(); ++p) {
      const double share = spent_[p] / patches_[p].weight;
      if (out && share >= least) continue;
      std::vector<GroundScan> scans;
      if (options_.pole) {
        scans = raster(t, patches_[p]);
      } else if (const auto scan = possible(t, patches_[p])) {
        scans.push_back(*scan);
      }
      if (scans.empty()) continue;
      out = Choice{std::move(scans), p};
      least = share;
    }
    return out;
  }

  [[nodiscard]] std::vector<HorizonPlace> outline(double t, const Patch& patch) const {
    std::vector<HorizonPlace> out;
    for (const Direction& point : patch.outline) out.push_back(sky_.place(t, point));
    return out;
  }

  /// The scan that begins now, as far as elevations, Sun and Moon let it.
  [[nodiscard]] std::optional<GroundScan> possible(double t, const Patch& patch) const {
    const std::vector<HorizonPlace> now = outline(t, patch);
    bool east = true, west = true;
    double low = 10, high = -10;
    for (const HorizonPlace& at : now) {
      (at.azimuth < std::numbers::pi ? west : east) = false;
      low = std::min(low, at.elevation);
      high = std::max(high, at.elevation);
    }
    if (!east && !west) return {};
    const double elevation = east ? high : low;
    if (elevation < options_.elevation_min_deg * kDegree ||
        elevation > options_.elevation_max_deg * kDegree) {
      return {};
    }
    const double longest = std::min(t + options_.scan_minutes * 60, stop_);
    double end = t, first = 10, last = -10;
    for (;;) {
      if (!cross(outline(end, patch), elevation, first, last) && end > t) break;
      if (!is_free(end, elevation, first, last)) break;
      if (end + kLookStep > longest) break;
      end += kLookStep;
    }
    if (end - t < kLeastScan || last - first < kNarrowest) return {};
    // the whole throw, all the time: it was narrower when the loop looked
    for (double at = t; at <= end; at += kLookStep) {
      if (is_free(at, elevation, first, last)) continue;
      end = at - kLookStep;
    }
    if (end - t < kLeastScan) return {};
    return GroundScan{.name = patch.name,
                      .start_s = t,
                      .stop_s = end,
                      .azimuth_min_deg = std::floor(first / kDegree * 100) / 100,
                      .azimuth_max_deg = std::ceil(last / kDegree * 100) / 100,
                      .elevation_deg = std::round(elevation / kDegree * 100) / 100};
  }

  /// The outline with azimuths that go on over north, from point to point and from `before` on.
  [[nodiscard]] std::vector<HorizonPlace> turned(double t, const Patch& patch,
                                                 double before) const {
    std::vector<HorizonPlace> out = outline(t, patch);
    for (HorizonPlace& at : out) {
      before = at.azimuth = before + std::remainder(at.azimuth - before, kTurn);
    }
    return out;
  }

  /// One row of a raster, beginning now; none where Sun, Moon or the end are in the way.
  [[nodiscard]] std::optional<GroundScan> row(double t, const Patch& patch,
                                              double elevation) const {
    const double stop = t + options_.pole_minutes * 60;
    if (stop > stop_) return {};
    double first = 100, last = -100, before = std::numbers::pi;
    for (double at = t;; at = std::min(at + kLookStep, stop)) {
      const std::vector<HorizonPlace> points = turned(at, patch, before);
      before = points.front().azimuth;
      (void)cross(points, elevation, first, last);
      if (at >= stop) break;
    }
    if (!(last - first >= kNarrowest && last - first < kTurn)) return {};
    for (double at = t; at <= stop; at += kLookStep) {
      if (!is_free(at, elevation, first, last)) return {};
    }
    const double from = std::floor(first / kDegree * 100) / 100,
                 to = std::ceil(last / kDegree * 100) / 100;
    const double turns = std::floor(from / 360), back = std::floor(to / 360);
    return GroundScan{.name = patch.name,
                      .start_s = t,
                      .stop_s = stop,
                      .azimuth_min_deg = from - 360 * turns,
                      .azimuth_max_deg = to - 360 * back,
                      .elevation_deg = std::round(elevation / kDegree * 1e4) / 1e4};
  }

  [[nodiscard]] std::vector<GroundScan> raster(double t, const Patch& patch) const {
    double low = 10, high = -10;
    for (const HorizonPlace& at : outline(t, patch)) {
      low = std::min(low, at.elevation);
      high = std::max(high, at.elevation);
    }
    if (low < options_.elevation_min_deg * kDegree || high > options_.elevation_max_deg * kDegree) {
      return {};
    }
    std::vector<GroundScan> out;
    const double step = options_.pole_step_deg * kDegree;
    const auto rows = static_cast<std::size_t>(std::ceil((high - low) / step));
    for (std::size_t k = 0; k < rows; ++k) {
      const double elevation =
          low + (static_cast<double>(k) + 0.5) * (high - low) / static_cast<double>(rows);
      std::optional<GroundScan> scan = row(t, patch, elevation);
      if (!scan) break;
      scan->subscan = static_cast<long>(k);
      out.push_back(*scan);
      t = after(*scan);
    }
    return out;
  }

  /// Widens [first, last] by the azimuths at which the outline has this elevation; false where the
  /// patch is wholly above or below it.
  static bool cross(const std::vector<HorizonPlace>& points, double elevation, double& first,
                    double& last) {
    bool any = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const HorizonPlace &a = points[i], &b = points[(i + 1) % points.size()];
      const double from = a.elevation - elevation, to = b.elevation - elevation;
      if (from * to > 0) continue;
      const double share = from == to ? 0 : from / (from - to);
      const double azimuth = a.azimuth + share * (b.azimuth - a.azimuth);
      first = std::min(first, azimuth);
      last = std::max(last, azimuth);
      any = true;
    }
    return any;
  }

  /// Far enough from Sun and Moon, and neither too high a Sun.
  [[nodiscard]] bool is_free(double t, double elevation, double first, double last) const {
    const HorizonPlace sun = sky_.sun(t), moon = sky_.moon(t);
    if (sun.elevation > options_.sun_elevation_max_deg * kDegree) return false;
    const Direction to_sun = horizon_direction(sun), to_moon = horizon_direction(moon);
    const double width = std::max(last - first, 0.0);
    const auto steps = static_cast<std::size_t>(std::ceil(width / kAngleStep));
    for (std::size_t i = 0; i <= steps; ++i) {
      const double azimuth =
          first + (steps == 0 ? 0 : width * static_cast<double>(i) / static_cast<double>(steps));
      const Direction look = horizon_direction({azimuth, elevation});
      if (sun.elevation > 0 && angle_between(look, to_sun) < options_.sun_angle_deg * kDegree) {
        return false;
      }
      if (moon.elevation > 0 && angle_between(look, to_moon) < options_.moon_angle_deg * kDegree) {
        return false;
      }
    }
    return true;
  }

  const ScheduleOptions& options_;
  std::vector<Patch> patches_;
  double stop_;
  Horizon sky_;
  std::vector<double> spent_;  ///< seconds, of each patch
  std::vector<long> passes_;
};

void check(const ScheduleOptions& o) {
  if (!(o.elevation_min_deg > 0 && o.elevation_max_deg < 90 &&
        o.elevation_min_deg < o.elevation_max_deg)) {
    throw Error(Status::kUsage, print("elevations from %g to %g: expected growing ones above 0 and "
                                      "below 90 degrees",
                                      o.elevation_min_deg, o.elevation_max_deg));
  }
  if (!(o.pole_step_deg > 0 && o.pole_minutes * 60 >= kLeastScan)) {
    throw Error(Status::kUsage, print("rasters with steps of %g degrees, %g minutes each: expected "
                                      "steps above 0, and %g minutes or more",
                                      o.pole_step_deg, o.pole_minutes, kLeastScan / 60));
  }
  if (o.patches.empty()) throw Error(Status::kUsage, "no --patch: nothing to be scanned");
}

double time_of(const char* option, const std::string& text) {
  try {
    return unix_time_of(text);
  } catch (const Error& error) {
    throw Error(error.status(), print("%s %s", option, error.what()));
  }
}

}  // namespace

Patch patch_of(const std::string& text) {
  const std::vector<std::string_view> fields = loom::parts_of(text);
  const Error error(Status::kUsage, "--patch '" + text +
                                        "': expected NAME,WEIGHT,LON,LAT,WIDTH or "
                                        "NAME,WEIGHT,LON1,LAT1,LON2,LAT2 in degrees");
  if ((fields.size() != 5 && fields.size() != 6) || fields[0].empty() ||
      fields[0].find_first_of("/|# \t") != std::string_view::npos) {
    throw error;
  }
  std::vector<double> numbers;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const std::optional<double> value = number_in(fields[i]);
    if (!value) throw error;
    numbers.push_back(*value);
  }
  Patch out{.name = std::string(fields[0]), .weight = numbers[0], .outline = {}};
  double lon1 = numbers[1], lat1 = numbers[2], lon2 = 0, lat2 = 0;
  if (numbers.size() == 4) {
    const double half = numbers[3] / 2, wide = half / std::max(std::cos(lat1 * kDegree), 1e-3);
    lon2 = lon1 + wide;
    lon1 -= wide;
    lat2 = lat1 - half;
    lat1 += half;
  } else {
    lon2 = numbers[3];
    lat2 = numbers[4];
  }
  if (!(out.weight > 0 && std::fabs(lat1) <= 90 && std::fabs(lat2) <= 90 && lat1 != lat2 &&
        lon1 != lon2 && std::fabs(lon1) <= 720 && std::fabs(lon2) <= 720)) {
    throw error;
  }
  const double corners[5][2] = {
      {lon1, lat1}, {lon2, lat1}, {lon2, lat2}, {lon1, lat2}, {lon1, lat1}};
  for (std::size_t side = 0; side < 4; ++side) {
    for (std::size_t i = 0; i < kSidePoints; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(kSidePoints);
      const auto& a = corners[side];
      const auto& b = corners[side + 1];
      out.outline.push_back(
          direction_of({a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])}));
    }
  }
  return out;
}

GroundSchedule make_schedule(const ScheduleOptions& options, const Observer& observer) {
  check(options);
  std::vector<Patch> patches;
  std::set<std::string> names;  // of scans, and so of observations
  for (const std::string& text : options.patches) {
    patches.push_back(patch_of(text));
    if (names.insert(patches.back().name).second) continue;
    throw Error(Status::kUsage, "--patch '" + text + "': expected another name, there is a patch " +
                                    patches.back().name);
  }
  const double start = time_of("--start", options.start), stop = time_of("--stop", options.stop);
  if (!(stop > start)) {
    throw Error(Status::kUsage, "--start " + options.start + ", --stop " + options.stop +
                                    ": expected growing times");
  }
  GroundSchedule out{.site_name = options.site_name,
                     .telescope_name = options.telescope_name,
                     .site = options.site,
                     .scans = {}};
  out.scans = Scheduler(options, std::move(patches), start, stop).run(start, observer);
  if (out.scans.empty()) {
    throw Error(Status::kUsage,
                "no scan is possible: no patch crosses these elevations far enough from Sun and "
                "Moon between --start and --stop");
  }
  return out;
}

}  // namespace skyloom
