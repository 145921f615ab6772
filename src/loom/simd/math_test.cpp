// SPDX-License-Identifier: BSD-3-Clause
// exp and erf of base/math_lane.hpp against long double; the ISA levels are covered by
// psf/spots_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "loom/base/math_lane.hpp"
#include "loom/simd/isa.hpp"

namespace loom {
namespace {

double ulps(double got, long double want) {
  const double w = static_cast<double>(want);
  const double ulp = std::nextafter(std::abs(w), 1e308) - std::abs(w);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want)) / ulp;
}

TEST(LaneExp, IsWithinTwoUlpOverItsWholeRange) {
  double worst = 0;
  for (double x = -700; x < 700; x += 0.00731) {
    worst = std::max(worst,
                     ulps(lane_math::exp(ScalarLane(x)).v, std::exp(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, 2.0);
  EXPECT_EQ(lane_math::exp(ScalarLane(-1e5)).v, 0.0);
  EXPECT_EQ(lane_math::exp(ScalarLane(0.0)).v, 1.0);
}

TEST(LaneErf, IsWithinTwoUlpOverItsWholeRange) {
  double worst = 0;
  for (double x = -7; x < 7; x += 0.0000731) {
    worst = std::max(worst,
                     ulps(lane_math::erf(ScalarLane(x)).v, std::erf(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, 2.0);
  EXPECT_EQ(lane_math::erf(ScalarLane(40.0)).v, 1.0);
}

TEST(Isa, LevelsStandLowestFirstAndTheBestIsTaken) {
  const std::vector<Isa> all = available_isas();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_LE(all.back(), detect_isa());
}

}  // namespace
}  // namespace loom
