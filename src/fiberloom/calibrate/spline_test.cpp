// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/spline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "loom/base/rng.hpp"

namespace fiberloom::calibrate {
namespace {

std::vector<double> positions(std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 5760 + 0.8 * static_cast<double>(i);
  return x;
}

double cubic(double x) {
  const double t = (x - 5800) / 40;
  return 1 + t * (0.5 + t * (-0.2 + 0.1 * t));
}

TEST(SplineFit, GivesBackACubicAndGoesOnBeyondTheEnds) {
  const std::vector<double> x = positions(100);
  std::vector<double> y(x.size()), w(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = cubic(x[i]), w[i] = i % 7 == 0 ? 2 : 1;
  const std::vector<double> at{x.front() - 3, x.front(), 5771.234, x.back(), x.back() + 3};
  const auto s = fit_spline(at, x, y, w, 5);
  ASSERT_TRUE(s);
  for (std::size_t i = 0; i < at.size(); ++i) EXPECT_NEAR((*s)[i], cubic(at[i]), 1e-11) << at[i];
}

TEST(SplineFit, LeavesResidualsThatNoSplineOfItsKnotsCanTakeAway) {
  // The residual of least squares is at right angles to all that can be fitted: to cubics, surely.
  const std::vector<double> x = positions(200);
  const loom::CounterRng rng(5, 5);
  std::vector<double> y(x.size()), w(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = rng.normal(i), w[i] = 0.1 + rng.uniform(999 + i);
  const auto s = fit_spline(x, x, y, w, 5);
  ASSERT_TRUE(s);
  for (int power = 0; power <= 3; ++power) {
    double product = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      product += w[i] * (y[i] - (*s)[i]) * std::pow((x[i] - 5840) / 80, power);
    }
    EXPECT_NEAR(product, 0, 1e-10) << power;
  }
}

TEST(SplineFit, BridgesAHoleByLeavingOutItsKnots) {
  const std::vector<double> all = positions(200);
  std::vector<double> x, y, w;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i >= 80 && i < 120) continue;
    x.push_back(all[i]), y.push_back(cubic(all[i])), w.push_back(1);
  }
  const auto s = fit_spline(all, x, y, w, 5);
  ASSERT_TRUE(s);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR((*s)[i], cubic(all[i]), 1e-9) << i;
}

TEST(SplineFit, SaysWhenTooLittleIsThere) {
  const std::vector<double> x{1, 2, 3}, y{1, 1, 1};
  EXPECT_FALSE(fit_spline(x, x, y, y, 1)) << "three points, four coefficients";
  EXPECT_FALSE(fit_spline({}, {}, {}, {}, 1));
  const std::vector<double> sparse{0, 1, 2, 3, 4, 5}, ones(6, 1.0);
  EXPECT_FALSE(fit_spline(sparse, sparse, ones, ones, 0.9)) << "a knot for each point";
  EXPECT_TRUE(fit_spline(sparse, sparse, ones, ones, 4));
}

TEST(SplineOnGrid, GivesTheBytesOfASingleFitWithHolesAndWithout) {
  std::vector<double> grid, y, weight;
  for (std::size_t i = 0; i < 300; ++i) {
    grid.push_back(3600 + 0.8 * static_cast<double>(i));
    y.push_back(1 + 0.1 * std::sin(0.07 * static_cast<double>(i)));
    weight.push_back(1 + static_cast<double>(i % 7));
  }
  const SplineOnGrid spline(grid, 5);
  // {first, last} of what is missing: nothing, a pixel, a hole that takes knots with it, the start,
  // all but too few
  const std::vector<std::pair<std::size_t, std::size_t>> holes{
      {0, 0}, {100, 101}, {100, 130}, {0, 9}, {2, 300}};
  for (const auto& [first, last] : holes) {
    std::vector<double> w = weight, x, there, of_x;
    for (std::size_t i = first; i < last; ++i) w[i] = 0;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      if (w[i] > 0) x.push_back(grid[i]), there.push_back(y[i]), of_x.push_back(w[i]);
    }
    EXPECT_EQ(spline.fit(y, w), fit_spline(grid, x, there, of_x, 5)) << first << " to " << last;
  }
}

}  // namespace
}  // namespace fiberloom::calibrate
