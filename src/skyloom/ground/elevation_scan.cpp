// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/elevation_scan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/ground/direction_table.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

constexpr double kLeastThrow = 1e-10;  // rad: less is a stare
constexpr double kSunStep = 60;        // seconds between places of the Sun that are computed

/// A sweep there, a turnaround, a sweep back, a turnaround: seconds of each and what they cover.
struct SweepPair {
  double low = 0, high = 0;  ///< azimuths between which the rate is constant, rad
  double rate = 0, acceleration = 0;
  double sweep_s = 0, turn_s = 0;

  [[nodiscard]] double period() const noexcept { return 2 * (sweep_s + turn_s); }
  /// The azimuth `t` seconds after the beginning of a pair, t within its period.
  [[nodiscard]] double azimuth(double t) const noexcept {
    if (t < sweep_s) return low + rate * t;
    t -= sweep_s;
    if (t < turn_s) return high + rate * t - 0.5 * acceleration * t * t;
    t -= turn_s;
    if (t < sweep_s) return high - rate * t;
    t -= sweep_s;
    return low - rate * t + 0.5 * acceleration * t * t;
  }
};

SweepPair sweeps_of(const GroundScan& scan, const MountOptions& mount) {
  if (!(mount.rate_deg_s > 0 && mount.acceleration_deg_s2 > 0)) {
    throw Error(Status::kUsage, print("a mount with rate %g, acceleration %g: expected both above "
                                      "0",
                                      mount.rate_deg_s, mount.acceleration_deg_s2));
  }
  SweepPair out;
  out.low = scan.azimuth_min_deg * kDegree;
  out.high = scan.azimuth_max_deg * kDegree;
  if (out.high < out.low) out.high += kTurn;
  out.rate = mount.rate_deg_s * kDegree;
  if (mount.rate_on_sky) out.rate /= std::cos(scan.elevation_deg * kDegree);
  out.acceleration = mount.acceleration_deg_s2 * kDegree;
  out.sweep_s = (out.high - out.low) / out.rate;
  out.turn_s = 2 * out.rate / out.acceleration;
  // within a turn of north, without a jump
  const double reach = out.rate * out.rate / (2 * out.acceleration);
  if (out.high + reach > kTurn) {
    out.low -= kTurn;
    out.high -= kTurn;
  }
  return out;
}

/// Samples whose times, from the first one on, lie in [from, to).
Stretch samples_between(double from, double to, double rate_hz, std::size_t samples) {
  const auto place = [&](double t) {
    const double at = std::ceil(t * rate_hz - 1e-6);  // what rounding put before it is on it
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(samples)));
  };
  return {place(from), place(to)};
}

std::vector<Stretch> merged(std::vector<Stretch> all) {
  std::sort(all.begin(), all.end(),
            [](const Stretch& a, const Stretch& b) { return a.first < b.first; });
  std::vector<Stretch> out;
  for (const Stretch& stretch : all) {
    if (!out.empty() && stretch.first <= out.back().end) {
      out.back().end = std::max(out.back().end, stretch.end);
    } else {
      out.push_back(stretch);
    }
  }
  return out;
}

std::vector<Stretch> joined(const std::vector<Stretch>& a, const std::vector<Stretch>& b) {
  std::vector<Stretch> all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end(),
            [](const Stretch& x, const Stretch& y) { return x.first < y.first; });
  return all;
}

void add_sweeps(const SweepPair& sweeps, double rate_hz, std::size_t samples, GroundMotion& to) {
  std::vector<Stretch> right, left, turn_right, turn_left, throw_right, throw_left;
  const auto put = [&](std::vector<Stretch>& into, double from, double end) {
    const Stretch stretch = samples_between(from, end, rate_hz, samples);
    if (stretch.first < stretch.end) into.push_back(stretch);
  };
  const double half = sweeps.turn_s / 2, end = static_cast<double>(samples) / rate_hz;
  for (double t = 0; t < end + half; t += sweeps.period()) {
    const double top = t + sweeps.sweep_s, back = top + sweeps.turn_s,
                 bottom = back + sweeps.sweep_s;
    put(right, t, top);
    put(turn_right, top, back);
    put(left, back, bottom);
    put(turn_left, bottom, bottom + sweeps.turn_s);
    put(throw_right, t - half, top + half);
    put(throw_left, back - half, bottom + half);
  }
  std::vector<Stretch> turns = joined(turn_right, turn_left);
  for (const Stretch& stretch : turns) {
    std::fill(to.flags.begin() + static_cast<std::ptrdiff_t>(stretch.first),
              to.flags.begin() + static_cast<std::ptrdiff_t>(stretch.end), kTurnaroundFlag);
  }
  // what touches is one in the peer's `throw`, but for a reader a sweep is a stretch of its own
  to.intervals = {
      {"scanning", joined(right, left)},          {"turnaround", std::move(turns)},
      {"throw", joined(throw_right, throw_left)}, {"scan_leftright", std::move(right)},
      {"scan_rightleft", std::move(left)},        {"turn_leftright", std::move(turn_right)},
      {"turn_rightleft", std::move(turn_left)},   {"throw_leftright", std::move(throw_right)},
      {"throw_rightleft", std::move(throw_left)}};
}

/// Elevations that change during the scan.
void move_elevation(const GroundScan& scan, const SweepPair& sweeps, const MountOptions& mount,
                    double rate_hz, GroundMotion& to) {
  const AxisSpeed speed{mount.nods.rate_deg_s * kDegree, mount.nods.acceleration_deg_s2 * kDegree};
  const auto samples = static_cast<double>(to.azimuth.size());
  const bool sweeps_at_all = sweeps.high - sweeps.low > kLeastThrow;
  if (mount.modulation.any()) {
    std::vector<SweepTime> times;
    for (double t = 0; sweeps_at_all && t < samples / rate_hz;
         t += sweeps.sweep_s + sweeps.turn_s) {
      times.push_back({t, t + sweeps.sweep_s});
    }
    modulate_elevation(mount.modulation, speed, scan.start_s, rate_hz, times, to.elevation);
  }
  if (!(mount.step_deg > 0) || !sweeps_at_all) return;
  std::vector<std::size_t> turns;  // samples at the least azimuth, with one behind them
  for (double t = sweeps.period() - sweeps.turn_s / 2;; t += sweeps.period()) {
    const double sample = std::round(t * rate_hz);
    if (sample + 1 >= samples) break;
    turns.push_back(static_cast<std::size_t>(sample));
  }
  step_elevation(mount.step_deg, speed, rate_hz, turns, to.elevation);
}

/// What was at the scan's samples moves behind the nods before it.
void add_nods(const GroundScan& scan, const SweepPair& sweeps, const MountOptions& mount,
              double rate_hz, GroundMotion& to) {
  check_nods(mount.nods, scan.elevation_deg);
  const double elevation = scan.elevation_deg * kDegree;
  const AxisSpeed turn{mount.rate_deg_s * kDegree, mount.acceleration_deg_s2 * kDegree};
  const auto path = [&](double azimuth, double from) {
    return nod_path(mount.nods, azimuth, from, sweeps.low, elevation, turn, rate_hz);
  };
  std::vector<Stretch> nods;
  if (mount.nods.before()) {
    const NodPath first = path(sweeps.low, elevation);
    to.before = first.azimuth.size();
    to.azimuth.insert(to.azimuth.begin(), first.azimuth.begin(), first.azimuth.end());
    to.elevation.insert(to.elevation.begin(), first.elevation.begin(), first.elevation.end());
    to.flags.insert(to.flags.begin(), to.before, kNodFlag);
    for (auto& [name, stretches] : to.intervals) {
      for (Stretch& stretch : stretches) stretch.first += to.before, stretch.end += to.before;
    }
    if (to.before > 0) nods.push_back({0, to.before});
  }
  if (mount.nods.behind()) {
    const std::size_t end = to.azimuth.size();
    const NodPath last = path(to.azimuth.back(), to.elevation.back());
    to.azimuth.insert(to.azimuth.end(), last.azimuth.begin(), last.azimuth.end());
    to.elevation.insert(to.elevation.end(), last.elevation.begin(), last.elevation.end());
    to.flags.insert(to.flags.end(), last.azimuth.size(), kNodFlag);
    if (end < to.azimuth.size()) nods.push_back({end, to.azimuth.size()});
  }
  to.intervals.emplace_back("elnod", std::move(nods));
}

/// Where the Sun is up, and where it is near.
void add_sun(const GroundScan& scan, const Site& site, const MountOptions& mount, double rate_hz,
             GroundMotion& to) {
  const std::size_t samples = to.azimuth.size();
  const double last = static_cast<double>(samples - 1) / rate_hz;
  const double start = to.start_s(scan, rate_hz);
  const Horizon sky(site, start, start + last);
  const std::size_t steps = static_cast<std::size_t>(std::ceil(last / kSunStep)) + 1;
  const DirectionTable way(
      last, steps, [&](double seconds) { return horizon_direction(sky.sun(start + seconds)); });
  const double near = std::cos(mount.sun_close_deg * kDegree);
  std::vector<Stretch> up, close;
  const auto note = [&](std::vector<Stretch>& into, std::size_t i, std::uint8_t flag) {
    to.flags[i] |= flag;
    into.push_back({i, i + 1});
    if (into.size() > 1 && into[into.size() - 2].end == i) {
      into.pop_back();
      into.back().end = i + 1;
    }
  };
  for (std::size_t i = 0; i < samples; ++i) {
    const Direction sun = way.at(static_cast<double>(i) / rate_hz);
    const Direction look = horizon_direction({to.azimuth[i], to.elevation[i]});
    if (sun.z > 0) note(up, i, kSunUpFlag);
    if (sun.x * look.x + sun.y * look.y + sun.z * look.z > near) note(close, i, kSunCloseFlag);
  }
  to.intervals.emplace_back("sun_up", merged(std::move(up)));
  to.intervals.emplace_back("sun_close", merged(std::move(close)));
}

}  // namespace

std::size_t scan_samples(const GroundScan& scan, double rate_hz) noexcept {
  // the peer's steps: a count, the end of it to the micro second, a count again
  const double count = std::floor(rate_hz * (scan.stop_s - scan.start_s));
  const double seconds = std::round(count / rate_hz * 1e6) / 1e6;
  const double again = std::floor(((scan.start_s + seconds) - scan.start_s) * rate_hz);
  return again > 0 ? static_cast<std::size_t>(again) : 0;
}

const std::vector<Stretch>* GroundMotion::interval(const std::string& name) const noexcept {
  for (const auto& [own, stretches] : intervals) {
    if (own == name) return &stretches;
  }
  return nullptr;
}

GroundMotion sweep_mount(const GroundScan& scan, const MountOptions& mount, double rate_hz) {
  const SweepPair sweeps = sweeps_of(scan, mount);
  const std::size_t samples = scan_samples(scan, rate_hz);
  GroundMotion out;
  out.azimuth.assign(samples, sweeps.low);
  out.elevation.assign(samples, scan.elevation_deg * kDegree);
  out.flags.assign(samples, 0);
  if (samples == 0) return out;
  if (sweeps.high - sweeps.low > kLeastThrow) {
    for (std::size_t i = 0; i < samples; ++i) {
      const double t = static_cast<double>(i) / rate_hz;
      out.azimuth[i] = sweeps.azimuth(std::fmod(t, sweeps.period()));
    }
    add_sweeps(sweeps, rate_hz, samples, out);
  } else {
    const std::vector<Stretch> none;
    for (const char* name :
         {"scanning", "turnaround", "throw", "scan_leftright", "scan_rightleft", "turn_leftright",
          "turn_rightleft", "throw_leftright", "throw_rightleft"}) {
      out.intervals.emplace_back(name, none);
    }
  }
  move_elevation(scan, sweeps, mount, rate_hz, out);
  if (!mount.nods.steps_deg.empty()) add_nods(scan, sweeps, mount, rate_hz, out);
  return out;
}

GroundMotion move_mount(const GroundScan& scan, const Site& site, const MountOptions& mount,
                        double rate_hz) {
  GroundMotion out = sweep_mount(scan, mount, rate_hz);
  if (!out.azimuth.empty()) add_sun(scan, site, mount, rate_hz, out);
  return out;
}

Quaternion mount_quaternion(double azimuth, double elevation, double boresight_angle_deg) noexcept {
  return about_z(-azimuth) * about_y(std::numbers::pi / 2 - elevation) *
         about_z(boresight_angle_deg * kDegree);
}

Boresight ground_boresight(const GroundScan& scan, const Site& site, const GroundMotion& motion,
                           double rate_hz, double plate_rpm) {
  const std::size_t samples = motion.azimuth.size();
  const bool plate = plate_rpm != 0;
  Boresight out(plate ? kPlateRows : kBoresightRows, samples);
  if (samples == 0) return out;
  const double start = motion.start_s(scan, rate_hz);
  const Horizon sky(site, start, start + static_cast<double>(samples - 1) / rate_hz);
  for (std::size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / rate_hz;
    const Quaternion look =
        mount_quaternion(motion.azimuth[i], motion.elevation[i], scan.boresight_angle_deg);
    const Quaternion q = sky.to_sky(start + t, look);
    set_quaternion(out, i, q);
    if (plate) {
      const double turns = plate_rpm / 60 * t;
      set_plate(out, i, kTurn * (turns - std::floor(turns)));
    }
  }
  return out;
}

}  // namespace skyloom
