// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/astro/barycentric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fiberloom::astro {
namespace {

struct Reference {
  double mjd;
  Direction toward;
  double velocity_m_s;
};

// astropy 8.0.2 with pyerfa 2.0.1.5: SkyCoord.radial_velocity_correction("barycentric") at Kitt
// Peak, written by `bench/barycentric/against_astropy.py build/release/bin/bench_barycentric
// --print 10`.
constexpr Reference kAstropy[] = {
    {63566.2497, {102.3021, 22.2020}, 16626.64}, {69173.7403, {3.5285, 3.6225}, 6413.16},
    {58866.1504, {39.7370, 29.0258}, -27954.98}, {69150.5474, {47.2504, 52.6742}, -22746.98},
    {61009.6253, {155.5939, -4.8391}, 29112.39}, {62434.9495, {279.3004, -69.1379}, -18289.32},
    {67604.3930, {145.5789, 32.2624}, 21620.87}, {62254.3495, {52.5754, -4.7018}, -5578.74},
    {64049.1183, {60.4517, 34.4122}, -25193.36}, {57375.5588, {343.0386, 45.0011}, -20244.06},
};

TEST(BarycentricVelocity, AgreesWithAstropyWithinAMetreASecond) {
  for (const Reference& r : kAstropy) {
    EXPECT_NEAR(barycentric_velocity_m_s(kKittPeak, r.toward, r.mjd), r.velocity_m_s, 1.0)
        << "MJD " << r.mjd;
  }
}

TEST(BarycentricVelocity, NeedsTheRotationOfTheEarth) {
  // half a day apart the site moves the other way; the orbit changes by far less
  const Direction toward{10, 0};
  double low = 1e9, high = -1e9;
  for (double hour = 0; hour < 24; ++hour) {
    const double v = barycentric_velocity_m_s(kKittPeak, toward, 61000 + hour / 24);
    low = std::min(low, v), high = std::max(high, v);
  }
  EXPECT_GT(high - low, 700) << "twice 395 m/s, less what the orbit does in a day";
}

TEST(BarycentricVelocity, OfOppositeDirectionsDiffersInSignButForRelativity) {
  const double there = barycentric_velocity_m_s(kKittPeak, {40, 20}, 60000.3);
  const double back = barycentric_velocity_m_s(kKittPeak, {220, -20}, 60000.3);
  EXPECT_GT(std::abs(there), 5000);
  EXPECT_NEAR(0.5 * (there + back), 4.7, 0.3);  // 1.5 time dilation + 3.2 gravity, m/s
}

TEST(BarycentricFactor, IsOnePlusTheVelocityOverThatOfLight) {
  for (const Reference& r : kAstropy) {
    const double f = barycentric_factor(kKittPeak, r.toward, r.mjd);
    EXPECT_NEAR(f, 1 + r.velocity_m_s / 299792458.0, 4e-9);
    EXPECT_NEAR(factor_velocity_km_s(f), r.velocity_m_s / 1000, 1e-3);
  }
}

}  // namespace
}  // namespace fiberloom::astro
