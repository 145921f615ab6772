// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/atmosphere.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

constexpr double kLeastElevation = 5 * kDegree;
constexpr double kMostNodes = 0x1p26;
constexpr double kMargin = 1.5;   // outer scales between the ends of what is seen, on the torus
constexpr double kLeastSide = 3;  // outer scales
constexpr std::size_t kNodeBytes = 20;

}  // namespace

/// What is seen of the layer, and the grid that covers it.
struct Atmosphere::Area {
  double first_along = 0, first_across = 0;
  ScreenShape shape = {};
};

Atmosphere::Place Atmosphere::place(const AtmosphereOptions& options, const Quaternion& look,
                                    double seconds) noexcept {
  // the horizon's frame: x to the north, y to the west; the wind blows away from where it comes
  // from
  const double from = options.wind_from_deg * kDegree;
  const Direction to{-std::cos(from), std::sin(from), 0};
  const Direction d = rotated(look, {0, 0, 1});
  const double x = options.height_m * d.x / d.z, y = options.height_m * d.y / d.z;
  return {x * to.x + y * to.y - options.wind_m_s * seconds, y * to.x - x * to.y, 1 / d.z};
}

Atmosphere::Area Atmosphere::area_of(const AtmosphereOptions& options, const GroundScan& scan,
                                     const GroundMotion& motion, double rate_hz,
                                     const FocalPlane& plane) {
  double radius = 0;
  for (const Detector& detector : plane.detectors) {
    const Direction d = rotated(detector.place, {0, 0, 1});
    radius = std::max(radius, std::atan2(std::hypot(d.x, d.y), d.z));
  }
  double lowest = std::numbers::pi;
  for (const double elevation : motion.elevation) lowest = std::min(lowest, elevation);
  if (!(lowest - radius >= kLeastElevation)) {
    throw Error(Status::kUsage,
                print("--atmosphere: %s looks down to %g degrees: expected 5 and more",
                      scan.session().c_str(), (lowest - radius) / kDegree));
  }
  if (!(options.rms_k > 0)) return {};
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (std::size_t i = 0; i < motion.azimuth.size(); ++i) {
    const Place at = place(
        options, mount_quaternion(motion.azimuth[i], motion.elevation[i], scan.boresight_angle_deg),
        static_cast<double>(i) / rate_hz);
    low[0] = std::min(low[0], at.along), high[0] = std::max(high[0], at.along);
    low[1] = std::min(low[1], at.across), high[1] = std::max(high[1], at.across);
  }
  const double reach =
      options.height_m * (1 / std::tan(lowest - radius) - 1 / std::tan(lowest)) + options.cell_m;
  Area out{.first_along = low[0] - reach, .first_across = low[1] - reach};
  out.shape = {.cell_m = options.cell_m, .outer_m = options.outer_m};
  double sides[2];
  for (std::size_t k = 0; k < 2; ++k) {
    const double seen = high[k] - low[k] + 2 * reach + kMargin * options.outer_m;
    sides[k] = std::max(seen, kLeastSide * options.outer_m) / options.cell_m;
  }
  if (!(sides[0] * sides[1] <= kMostNodes)) {
    throw Error(Status::kUsage,
                print("--atmosphere: %s sees %.3g x %.3g cells of %g m: expected %.3g at most",
                      scan.session().c_str(), sides[0], sides[1], options.cell_m, kMostNodes));
  }
  out.shape.columns = screen_length(sides[0]);
  out.shape.rows = screen_length(sides[1]);
  return out;
}

std::size_t Atmosphere::bytes(const AtmosphereOptions& options, const GroundScan& scan,
                              const GroundMotion& motion, double rate_hz, const FocalPlane& plane) {
  const ScreenShape shape = area_of(options, scan, motion, rate_hz, plane).shape;
  return shape.columns * shape.rows * kNodeBytes + motion.azimuth.size() * sizeof(Quaternion);
}

Atmosphere::Atmosphere(const AtmosphereOptions& options, const GroundScan& scan,
                       const GroundMotion& motion, double rate_hz, const FocalPlane& plane,
                       StreamName name, Executor& executor)
    : Atmosphere(options, scan, motion, rate_hz, area_of(options, scan, motion, rate_hz, plane),
                 name, executor) {}

Atmosphere::Atmosphere(const AtmosphereOptions& options, const GroundScan& scan,
                       const GroundMotion& motion, double rate_hz, const Area& area,
                       StreamName name, Executor& executor)
    : options_(options),
      rate_hz_(rate_hz),
      first_along_(area.first_along),
      first_across_(area.first_across) {
  if (options.rms_k > 0) screen_.emplace(area.shape, name, executor);
  looks_.reserve(motion.azimuth.size());
  for (std::size_t i = 0; i < motion.azimuth.size(); ++i) {
    looks_.push_back(
        mount_quaternion(motion.azimuth[i], motion.elevation[i], scan.boresight_angle_deg));
  }
}

void Atmosphere::add(const Detector& detector, std::span<double> signal) const {
  for (std::size_t i = 0; i < signal.size(); ++i) {
    const Place at = place(options_, looks_[i] * detector.place, static_cast<double>(i) / rate_hz_);
    if (screen_) {
      signal[i] += options_.rms_k * at.airmass *
                   screen_->at(at.along - first_along_, at.across - first_across_);
    }
    if (options_.load_k > 0) signal[i] += options_.load_k * at.airmass;
  }
}

}  // namespace skyloom
