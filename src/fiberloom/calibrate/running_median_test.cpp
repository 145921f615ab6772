// SPDX-License-Identifier: BSD-3-Clause
// Running medians against windows that are sorted anew.
#include "fiberloom/calibrate/running_median.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "loom/base/rng.hpp"

namespace fiberloom::calibrate {
namespace {

std::vector<double> sorted_anew(const std::vector<double>& x, std::size_t width) {
  std::vector<double> out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<double> window;
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t at = i + k;  // of x, width / 2 behind
      const bool inside = at >= width / 2 && at - width / 2 < x.size();
      window.push_back(inside ? x[at - width / 2] : 0.0);
    }
    std::sort(window.begin(), window.end());
    out.push_back(window[width / 2]);
  }
  return out;
}

TEST(RunningMedian, IsThatOfEachWindow) {
  const loom::CounterRng rng(3, 5);
  for (const std::size_t n : {1U, 2U, 7U, 50U, 333U}) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = i % 5 == 0 ? 0.0 : std::floor(8 * rng.normal(i)) / 4;  // with many that are equal
    }
    for (const std::size_t width : {1U, 2U, 5U, 20U, 200U}) {
      EXPECT_EQ(running_median(x, width), sorted_anew(x, width)) << n << ' ' << width;
    }
  }
}

TEST(RunningMedian, SeesNothingBeyondTheEnds) {
  EXPECT_EQ(running_median(std::vector<double>(9, 2.0), 20), std::vector<double>(9, 0.0));
  EXPECT_EQ(running_median(std::vector<double>(30, 2.0), 20), std::vector<double>(30, 2.0));
}

TEST(RunningMean, IsThatOfTheUsedOnesOfEachWindow) {
  const std::vector<double> x{1, 2, 4, 8, 16, 32}, used{1, 2, 0, 1, 0, 1};
  const std::vector<double> mean = running_mean(x, used, 3);
  EXPECT_EQ(mean, (std::vector<double>{1.5, 1.5, 5, 8, 20, 32}));
  EXPECT_EQ(running_mean(x, std::vector<double>(6, 0.0), 3), std::vector<double>(6, 0.0));
  EXPECT_EQ(running_mean(x, std::vector<double>(6, 1.0), 20), std::vector<double>(6, 10.5));
}

}  // namespace
}  // namespace fiberloom::calibrate
