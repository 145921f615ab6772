// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/elevation_modulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

Error too_fast(const char* what, double asked, double has, const char* unit) {
  return {Status::kUsage, print("--elevation-modulation: asks for %.4g %s, the mount has %.4g (%s)",
                                asked / kDegree, unit, has / kDegree, what)};
}

/// The first number of numpy's old generator with this seed, [0, 1): the peer's phase.
double peers_random(std::uint32_t seed) {
  std::mt19937 generator(seed);
  const auto high = static_cast<double>(generator() >> 5U);
  const auto low = static_cast<double>(generator() >> 6U);
  return (high * 0x1p26 + low) / 0x1p53;
}

/// Up and down at one rate, with turnarounds of one acceleration: above the lowest elevation, from
/// the moment when it is there.
struct EvenWave {
  double acceleration = 0, rate = 0;
  double turn_s = 0, straight_s = 0;  ///< half a turnaround; between two of them

  [[nodiscard]] double at(double t) const noexcept {
    const double top = 2 * turn_s + straight_s;  // the moment of the highest
    if (t > top) t = 2 * top - t;
    const double height = rate * (turn_s + straight_s);
    if (t < turn_s) return 0.5 * acceleration * t * t;
    if (t < turn_s + straight_s) return 0.5 * rate * turn_s + rate * (t - turn_s);
    return height - 0.5 * acceleration * (top - t) * (top - t);
  }
};

EvenWave even_wave(const ModulationOptions& options, AxisSpeed mount) {
  const double amplitude = options.amplitude_deg * kDegree, half = 0.5 / options.rate_hz;
  // rate * (half - turn) = 2 amplitude with rate = acceleration * turn
  const double root = half * half - 8 * amplitude / mount.acceleration;
  if (root < 0) {
    throw too_fast("--elevation-acceleration", 8 * amplitude / (half * half), mount.acceleration,
                   "degrees/s^2");
  }
  EvenWave out{.acceleration = mount.acceleration};
  out.turn_s = (half - std::sqrt(root)) / 2;
  out.straight_s = half - 2 * out.turn_s;
  out.rate = mount.acceleration * out.turn_s;
  if (out.rate > mount.rate) {
    throw too_fast("--elevation-rate", out.rate, mount.rate, "degrees/s");
  }
  return out;
}

void add_even(const ModulationOptions& options, AxisSpeed mount, double start_s,
              double sample_rate_hz, std::span<double> elevation) {
  const EvenWave wave = even_wave(options, mount);
  const double period = 1 / options.rate_hz, amplitude = options.amplitude_deg * kDegree;
  const auto seed = static_cast<std::uint32_t>(std::fmod(start_s, 0x1p32));
  const double first = peers_random(seed) * period + wave.turn_s + 0.5 * wave.straight_s;
  for (std::size_t i = 0; i < elevation.size(); ++i) {
    const double t = first + static_cast<double>(i) / sample_rate_hz;
    elevation[i] += wave.at(std::fmod(t, period)) - amplitude;
  }
}

void add_sine(const ModulationOptions& options, AxisSpeed mount, double sample_rate_hz,
              std::span<const SweepTime> sweeps, std::span<double> elevation) {
  const double turns = 2 * std::numbers::pi * options.rate_hz;
  const double amplitude = options.amplitude_deg * kDegree;
  if (turns * amplitude > mount.rate) {
    throw too_fast("--elevation-rate", turns * amplitude, mount.rate, "degrees/s");
  }
  if (turns * turns * amplitude > mount.acceleration) {
    throw too_fast("--elevation-acceleration", turns * turns * amplitude, mount.acceleration,
                   "degrees/s^2");
  }
  const double last = static_cast<double>(elevation.size()) - 1;
  const auto nearest = [&](double t) {
    return static_cast<std::size_t>(std::clamp(std::round(t * sample_rate_hz), 0.0, last));
  };
  const auto phase_of = [&](std::size_t number) {
    if (options.sine_seed == 0)
      return options.sine_phase_deg * kDegree * static_cast<double>(number);
    return 2 * std::numbers::pi *
           peers_random(static_cast<std::uint32_t>(options.sine_seed + number));
  };
  for (std::size_t number = 0; number < sweeps.size(); ++number) {
    const SweepTime& sweep = sweeps[number];
    if (sweep.begin_s * sample_rate_hz > last) break;
    const double phase = phase_of(number);
    for (std::size_t i = nearest(sweep.begin_s); i <= nearest(sweep.end_s); ++i) {
      const double t = static_cast<double>(i) / sample_rate_hz - sweep.begin_s;
      elevation[i] += amplitude * std::sin(turns * t + phase);
    }
  }
}

/// From rest at 0 to rest at `height`, as fast as the mount can.
struct StepWave {
  double height = 0, acceleration = 0;
  double turn_s = 0, straight_s = 0;  ///< each of the turnarounds; between them

  StepWave(double to, AxisSpeed mount) : height(to), acceleration(mount.acceleration) {
    const double in_turns = mount.rate * mount.rate / mount.acceleration;  // of height
    turn_s = std::sqrt(std::min(height, in_turns) / mount.acceleration);
    straight_s = std::max(0.0, height - in_turns) / mount.rate;
  }
  /// `t` seconds from the moment that the peer calls its middle: of the thousand places that it
  /// has of the straight part the one behind the middle.
  [[nodiscard]] double at(double t) const noexcept {
    t += turn_s + straight_s * (500.0 / 999.0);
    const double end = 2 * turn_s + straight_s;
    if (t <= 0) return 0;
    if (t >= end) return height;
    if (t < turn_s) return 0.5 * acceleration * t * t;
    if (t > end - turn_s) return height - 0.5 * acceleration * (end - t) * (end - t);
    return acceleration * turn_s * (t - 0.5 * turn_s);
  }
};

void check_mount(const char* option, AxisSpeed mount) {
  if (mount.rate > 0 && mount.acceleration > 0) return;
  throw Error(Status::kUsage, std::string(option) +
                                  ": expected a mount whose elevation has a rate and an "
                                  "acceleration above 0");
}

/// Where the elevations may be, rad.
void check_range(const char* option, double low, double high) {
  if (low > 0 && high < std::numbers::pi / 2) return;
  throw Error(Status::kUsage, print("%s: from %.4g to %.4g degrees: expected above 0 and below 90",
                                    option, low / kDegree, high / kDegree));
}

}  // namespace

void step_elevation(double step_deg, AxisSpeed mount, double sample_rate_hz,
                    std::span<const std::size_t> at, std::span<double> elevation) {
  if (elevation.empty() || at.empty()) return;
  check_mount("--elevation-step", mount);
  const StepWave wave(step_deg * kDegree, mount);
  const auto [low, high] = std::minmax_element(elevation.begin(), elevation.end());
  check_range("--elevation-step", *low, *high + static_cast<double>(at.size()) * wave.height);
  for (const std::size_t middle : at) {
    for (std::size_t i = 0; i < elevation.size(); ++i) {
      elevation[i] +=
          wave.at((static_cast<double>(i) - static_cast<double>(middle)) / sample_rate_hz);
    }
  }
}

void modulate_elevation(const ModulationOptions& options, AxisSpeed mount, double start_s,
                        double sample_rate_hz, std::span<const SweepTime> sweeps,
                        std::span<double> elevation) {
  if (elevation.empty()) return;
  check_mount("--elevation-modulation", mount);
  const double amplitude = options.amplitude_deg * kDegree;
  const auto [low, high] = std::minmax_element(elevation.begin(), elevation.end());
  check_range("--elevation-modulation", *low - amplitude, *high + amplitude);
  if (options.sine) {
    add_sine(options, mount, sample_rate_hz, sweeps, elevation);
  } else {
    add_even(options, mount, start_s, sample_rate_hz, elevation);
  }
}

}  // namespace skyloom
