// SPDX-License-Identifier: BSD-3-Clause
// ScalarLane is the oracle of every pack: here it is held against what its names say. The accuracy
// of exp and erf is tested in simd/.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loom/base/math_lane.hpp"
#include "loom/base/scalar_lane.hpp"

namespace loom {
namespace {

using V = ScalarLane;
const double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(ScalarLane, DoesWhatItsNamesSay) {
  EXPECT_EQ(fma(V(2), V(3), V(4)).v, 10);
  EXPECT_EQ(fnma(V(2), V(3), V(4)).v, -2);
  EXPECT_EQ(max(V(-2), V(1)).v, 1);
  EXPECT_EQ(min(V(-2), V(1)).v, -2);
  EXPECT_EQ(abs(V(-2)).v, 2);
  EXPECT_EQ((-V(2)).v, -2);
  EXPECT_EQ(sqrt(V(9)).v, 3);
  EXPECT_EQ(floor(V(-1.5)).v, -2);
  EXPECT_EQ(lane_value(V(5), 0), 5);
  EXPECT_TRUE(all_below(V(1), 2));
  EXPECT_FALSE(all_below(V(2), 2));
}

TEST(ScalarLane, RoundsTiesToEven) {
  for (const auto& [x, want] : {std::pair{0.5, 0.0},
                                {1.5, 2.0},
                                {2.5, 2.0},
                                {-0.5, 0.0},
                                {-1.5, -2.0},
                                {2.4999, 2.0},
                                {-2.6, -3.0}})
    EXPECT_EQ(round_even(V(x)).v, want) << x;
}

TEST(ScalarLane, Pow2IsExactOverTheNormalNumbers) {
  for (int n = -1022; n <= 1023; ++n) EXPECT_EQ(pow2(V(n)).v, std::ldexp(1.0, n)) << n;
}

TEST(ScalarLane, ANaNIsNeverPositive) {
  EXPECT_EQ(select_positive(V(kNan), V(1), V(2)).v, 2);
  EXPECT_EQ(select_positive(V(0), V(1), V(2)).v, 2);
  EXPECT_EQ(select_positive(V(1e-300), V(1), V(2)).v, 1);
  EXPECT_FALSE(all_below(V(kNan), 1e300));
}

TEST(LaneExp, OfTheNegativeIsTheInverse) {
  for (double x = -300; x < 300; x += 1.37) {
    const double both = lane_math::exp(V(x)).v * lane_math::exp(V(-x)).v;
    EXPECT_NEAR(both, 1, 1e-15) << x;
  }
}

TEST(LaneExp, EndsWhereDoublesDo) {
  EXPECT_EQ(lane_math::exp(V(-708.5)).v, 0);
  EXPECT_EQ(lane_math::exp(V(1e300)).v, lane_math::exp(V(708)).v);
}

TEST(LaneErf, IsOddAndRisesFromMinusOneToOne) {
  double before = -1;
  for (double x = -6.5; x <= 6.5; x += 0.01) {
    const double e = lane_math::erf(V(x)).v;
    EXPECT_EQ(e, -lane_math::erf(V(-x)).v) << x;
    EXPECT_GE(e, before) << x;
    before = e;
  }
  EXPECT_EQ(before, 1);
}

TEST(LaneErfc, OfTheGaussAtHandIsTheComplementOfErf) {
  for (double a = 0; a < 25; a += 0.013) {
    const auto square = static_cast<long double>(a) * a;
    const auto gauss = static_cast<double>(std::exp(-square));
    const double got = lane_math::erfc_given_gauss(V(a), V(gauss)).v;
    EXPECT_NEAR(got, std::erfc(a), 1e-15 * gauss) << a;
  }
}

}  // namespace
}  // namespace loom
