// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/plate.hpp"

#include <cmath>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

constexpr double kLeastStep = 1e-6;  // rad: the peer's, below it a plate stands

}  // namespace

double plate_turns(std::span<const double> angles, const std::string& name,
                   const std::string& wish) {
  std::vector<double> steps;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < angles.size(); ++i) {
    const double step = std::remainder(angles[i + 1] - angles[i], kTurn);
    steps.push_back(step);
    sum += step;
  }
  if (steps.empty() || !(std::fabs(median_of(steps)) >= kLeastStep)) {
    throw Error(Status::kUsage,
                name + ": the half-wave plate stands still: " + wish + " asks for one that turns");
  }
  return std::fabs(sum) / static_cast<double>(angles.size() - 1) / kTurn;
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
