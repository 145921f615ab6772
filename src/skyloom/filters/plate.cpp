// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/plate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

constexpr double kLeastStep = 1e-6;  // rad: the peer's, below it a plate stands

[[noreturn]] void say_it_stands(const std::string& name, const std::string& wish) {
  throw Error(Status::kUsage,
              name + ": the half-wave plate stands still: " + wish + " asks for one that turns");
}

/// From each sample to the next one, the short way round.
struct Steps {
  std::vector<double> all;
  double middle = 0;
};
Steps steps_of(std::span<const double> angles, const std::string& name, const std::string& wish) {
  Steps out;
  for (std::size_t i = 0; i + 1 < angles.size(); ++i) {
    out.all.push_back(std::remainder(angles[i + 1] - angles[i], kTurn));
  }
  std::vector<double> sorted = out.all;
  if (!sorted.empty()) out.middle = std::fabs(median_of(sorted));
  if (!(out.middle >= kLeastStep)) say_it_stands(name, wish);
  return out;
}

/// Angle a sample, over a turn of the middle speed around each; below 0 where it turns back.
std::vector<double> speeds_of(const Steps& steps) {
  std::vector<double> angle{0};
  for (const double step : steps.all) angle.push_back(angle.back() + step);
  const std::size_t n = angle.size();
  const auto half = static_cast<std::size_t>(std::ceil(kTurn / 2 / steps.middle));
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t low = i - std::min(i, half), high = std::min(n - 1, i + half);
    out[i] = (angle[high] - angle[low]) / static_cast<double>(high - low);
  }
  return out;
}

}  // namespace

std::span<const double> plate_angles(const Boresight& boresight, std::size_t samples,
                                     const std::string& name, const std::string& wish) {
  if (has_plate(boresight)) return {boresight.row(kPlateAngle), samples};
  throw Error(Status::kMissingHdu,
              name + ": no angles of a half-wave plate, which " + wish + " asks for");
}

double plate_turns(std::span<const double> angles, const std::string& name,
                   const std::string& wish) {
  double sum = 0;
  for (const double step : steps_of(angles, name, wish).all) sum += step;
  return std::fabs(sum) / static_cast<double>(angles.size() - 1) / kTurn;
}

EvenTurns even_turns(std::span<const double> angles, double tolerance, const std::string& name,
                     const std::string& wish) {
  const Steps steps = steps_of(angles, name, wish);
  const std::vector<double> speeds = speeds_of(steps);
  std::vector<double> sorted;
  for (const double speed : speeds) sorted.push_back(std::fabs(speed));
  const double middle = median_of(sorted);
  if (!(middle >= kLeastStep)) say_it_stands(name, wish);
  EvenTurns out;
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (std::fabs(std::fabs(speeds[i]) - middle) <= tolerance * middle) {
      if (i == steps.all.size()) continue;
      sum += speeds[i] < 0 ? -steps.all[i] : steps.all[i];
      ++count;
    } else if (!out.uneven.empty() && out.uneven.back().end == i) {
      ++out.uneven.back().end;
    } else {
      out.uneven.push_back({i, i + 1});
    }
  }
  if (2 * count < steps.all.size()) {
    throw Error(Status::kUsage, name + ": the half-wave plate does not turn evenly, but for " +
                                    print("%zu of %zu samples: ", count, speeds.size()) + wish +
                                    " asks for half of them");
  }
  out.turns = sum / static_cast<double>(count) / kTurn;
  return out;
}

void check_plate_rate(double turns, double harmonic, double rate_hz, const std::string& name,
                      const std::string& wish) {
  if (harmonic * turns < 0.5) return;
  throw Error(Status::kUsage,
              print("%s: %s: %g times the half-wave plate's turns, %g Hz, are above half the rate "
                    "of %g Hz",
                    name.c_str(), wish.c_str(), harmonic, harmonic * turns * rate_hz, rate_hz));
}

}  // namespace skyloom
