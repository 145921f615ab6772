// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/elevation_nod.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

/// From rest to rest about one axis.
class Move {
 public:
  Move(double from, double to, AxisSpeed speed)
      : from_(from),
        sign_(to < from ? -1 : 1),
        way_(std::fabs(to - from)),
        rate_(speed.rate),
        acceleration_(speed.acceleration) {
    speeding_s_ = rate_ / acceleration_;
    if (rate_ * speeding_s_ > way_) {  // it never gets that fast
      speeding_s_ = std::sqrt(way_ / acceleration_);
      rate_ = acceleration_ * speeding_s_;
    } else {
      even_s_ = way_ / rate_ - speeding_s_;
    }
  }
  [[nodiscard]] double seconds() const noexcept { return 2 * speeding_s_ + even_s_; }
  [[nodiscard]] double at(double t) const noexcept {
    const double left = std::max(seconds() - t, 0.0);
    if (left < speeding_s_) return from_ + sign_ * (way_ - 0.5 * acceleration_ * left * left);
    if (t < speeding_s_) return from_ + sign_ * 0.5 * acceleration_ * t * t;
    return from_ + sign_ * rate_ * (t - speeding_s_ / 2);
  }

 private:
  double from_, sign_, way_, rate_, acceleration_, speeding_s_ = 0, even_s_ = 0;
};

}  // namespace

NodPath nod_path(const NodOptions& options, double azimuth, double elevation, double azimuth_to,
                 double scan_elevation, AxisSpeed turn, double rate_hz) {
  const AxisSpeed tilt{options.rate_deg_s * kDegree, options.acceleration_deg_s2 * kDegree};
  NodPath out;
  double begin = 0;
  for (const double step : options.steps_deg) {
    const double to = scan_elevation + step * kDegree;
    const Move turns(azimuth, azimuth_to, turn), tilts(elevation, to, tilt);
    const double end = begin + std::max(turns.seconds(), tilts.seconds());
    // what rounding put before the end is on it
    for (;;) {
      const double t = static_cast<double>(out.azimuth.size()) / rate_hz;
      if (t > end - 1e-6 / rate_hz) break;
      out.azimuth.push_back(turns.at(t - begin));
      out.elevation.push_back(tilts.at(t - begin));
    }
    azimuth = azimuth_to;
    elevation = to;
    begin = end;
  }
  // the peer's count: what is left of a sample's time falls away
  const auto samples = static_cast<std::size_t>(begin * rate_hz + 1e-6);
  out.azimuth.resize(std::min(samples, out.azimuth.size()));
  out.elevation.resize(out.azimuth.size());
  return out;
}

void check_nods(const NodOptions& options, double scan_elevation_deg) {
  if (options.steps_deg.empty()) return;
  if (!(options.rate_deg_s > 0 && options.acceleration_deg_s2 > 0)) {
    throw Error(Status::kUsage, print("nods with rate %g, acceleration %g: expected both above 0",
                                      options.rate_deg_s, options.acceleration_deg_s2));
  }
  for (const double step : options.steps_deg) {
    const double elevation = scan_elevation_deg + step;
    if (elevation > 0 && elevation < 90) continue;
    throw Error(Status::kUsage,
                print("a nod by %g from an elevation of %g: expected what is above 0 and below 90 "
                      "degrees",
                      step, scan_elevation_deg));
  }
  if (options.before() && options.steps_deg.back() != 0) {
    throw Error(Status::kUsage, print("nods before a scan that end %g degrees from it: expected 0 "
                                      "at last",
                                      options.steps_deg.back()));
  }
}

}  // namespace skyloom
