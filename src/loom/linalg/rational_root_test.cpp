// SPDX-License-Identifier: BSD-3-Clause
#include "loom/linalg/rational_root.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

double worst_error(const RationalRoot& root, double low, double high) {
  double worst = 0;
  for (int i = 0; i <= 2000; ++i) {
    const double s = low * std::pow(high / low, i / 2000.0);
    double sum = 0;
    for (std::size_t k = 0; k < root.t.size(); ++k)
      sum += root.c[k] * (1 - root.t[k] / (s + root.t[k]));
    worst = std::max(worst, std::abs(sum / std::sqrt(s) - 1));
  }
  return worst;
}

TEST(RationalRoot, StaysWithinItsErrorBound) {
  for (const double kappa : {1.5, 12.0, 900.0, 1e5, 6e8, 1e12}) {
    for (const int poles : {4, 8, 12, 16, 24}) {
      const RationalRoot root = rational_root(0.3, 0.3 * kappa, poles);
      // Summing terms of one sign loses about eps x sqrt(kappa) at the low end, in either form.
      const double rounding = 40 * 2.2e-16 * std::sqrt(kappa);
      EXPECT_LE(worst_error(root, 0.3, 0.3 * kappa), 1.01 * root.error + rounding)
          << kappa << " " << poles;
    }
  }
}

TEST(RationalRoot, TheBoundIsNotIdle) {
  // with two poles fewer the error is beyond the bound of the full number
  const RationalRoot full = rational_root(1, 900, 12), fewer = rational_root(1, 900, 10);
  EXPECT_GT(worst_error(fewer, 1, 900), full.error);
}

TEST(RationalRoot, TheBoundIsTheErrorItselfAlsoForSmallKappa) {
  int compared = 0;
  for (const double kappa : {1.0001, 1.01, 1.5, 2.0, 4.0, 10.0, 900.0}) {
    for (const int poles : {1, 2, 3, 4, 6}) {
      const RationalRoot root = rational_root(0.3, 0.3 * kappa, poles);
      if (root.error > 0.05 || root.error < 1e-11) continue;  // third order; rounding
      const double measured = worst_error(root, 0.3, 0.3 * kappa);
      EXPECT_LE(measured, 1.01 * root.error) << kappa << " " << poles;
      EXPECT_GE(measured, 0.97 * root.error) << kappa << " " << poles;
      ++compared;
    }
  }
  EXPECT_GE(compared, 15);
}

TEST(RationalRoot, OfASingleNumberIsExactWithAnyPoles) {
  for (const int poles : {1, 2, 4}) {
    const RationalRoot root = rational_root(0.3, 0.3, poles);
    EXPECT_EQ(root.error, 0) << poles;
    EXPECT_LT(worst_error(root, 0.3, 0.3), 1e-15) << poles;
  }
}

TEST(PoleCount, IsTheFirstOfTheLadderThatReachesTheTolerance) {
  for (const double kappa : {1.0, 1.0001, 1.5, 2.0, 10.0, 900.0}) {
    for (const double tolerance : {1e-2, 1e-5, 1e-8, 1e-11}) {
      int reached = 4;
      while (worst_error(rational_root(1, kappa, reached), 1, kappa) > tolerance) reached += 2;
      EXPECT_EQ(pole_count(kappa, tolerance), reached) << kappa << " " << tolerance;
    }
  }
}

TEST(PoleCount, GrowsWithKappaAndStopsAtTheTolerance) {
  EXPECT_LE(pole_count(12, 1e-8), pole_count(900, 1e-8));
  EXPECT_LT(pole_count(900, 1e-8), pole_count(6e8, 1e-8));
  EXPECT_EQ(pole_count(900, 1e-8), 10);
}

}  // namespace
}  // namespace loom
