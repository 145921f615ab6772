// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/sky_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace fiberloom {
namespace {

double nearest(const std::vector<SkyLine>& lines, double vacuum_aa) {
  double best = 1e9;
  for (const SkyLine& l : lines) {
    if (std::abs(l.wave_aa - vacuum_aa) < std::abs(best - vacuum_aa)) best = l.wave_aa;
  }
  return best;
}

std::size_t count(const std::vector<SkyLine>& lines, double low, double high) {
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const SkyLine& l) {
    return l.wave_aa >= low && l.wave_aa <= high;
  }));
}

TEST(SkyLines, AreMoreThan300AndSorted) {
  const auto lines = night_sky_lines();
  EXPECT_GE(count(lines, 3600, 9824), 300U);
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end(), [](const SkyLine& a, const SkyLine& b) {
    return a.wave_aa < b.wave_aa;
  }));
  for (const SkyLine& l : lines) EXPECT_GT(l.strength, 0.0) << l.name;
}

TEST(SkyLines, AreFoundInEveryCamera) {
  const auto lines = night_sky_lines();
  EXPECT_GE(count(lines, 3600, 5800), 50U);
  EXPECT_GE(count(lines, 5760, 7620), 150U);
  EXPECT_GE(count(lines, 7520, 9824), 200U);
}

TEST(SkyLines, OfHydroxylLieAtMeasuredAirWavelengths) {
  // Q1(1.5), P1(2.5) and P1(3.5) (5-1 and 6-2: P1(4.5) as well) of 8-3, 4-0, 9-4, 5-1, 6-2, 7-3,
  // 8-4 as in atlases of the night sky.
  const auto lines = oh_lines(0.005);
  for (const double air :
       {7276.405, 7316.282, 7340.885, 7523.99,  7571.75,  7750.640, 7794.112, 7821.503,
        7913.708, 7964.650, 7993.332, 8025.81,  8344.602, 8399.170, 8430.174, 8465.36,
        8827.096, 8885.850, 8919.610, 9375.961, 9439.660, 9476.86}) {
    EXPECT_NEAR(vacuum_to_air(nearest(lines, air_to_vacuum(air))), air, 0.05) << air;
  }
}

TEST(SkyLines, OfOxygenMoleculesLieAtMeasuredVacuumWavelengths) {
  const auto lines = o2_lines(0.005);
  for (const double vacuum : {8630.3, 8658.2, 8661.5, 8623.7}) {
    EXPECT_NEAR(nearest(lines, vacuum), vacuum, 0.1);
  }
}

TEST(SkyLines, KnowTheGreenAndRedLinesOfOxygenAndSodiumInVacuum) {
  const auto lines = night_sky_lines();
  EXPECT_NEAR(nearest(lines, 5578.887), 5578.887, 0.01);
  EXPECT_NEAR(nearest(lines, 6302.046), 6302.046, 0.01);
  EXPECT_NEAR(nearest(lines, 6365.536), 6365.536, 0.01);
  EXPECT_NEAR(nearest(lines, 5891.583), 5891.583, 0.01);
}

TEST(SkyLines, HaveNamesThatTellTheTransition) {
  const auto lines = oh_lines(0.005);
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [](const SkyLine& l) { return l.name == "OH 8-3 P1(2.5)"; });
  ASSERT_NE(found, lines.end());
  EXPECT_NEAR(vacuum_to_air(found->wave_aa), 7316.28, 0.05);
}

TEST(AirToVacuum, ClosesItsRoundTrip) {
  for (double w = 3600; w < 9900; w += 77) {
    EXPECT_NEAR(vacuum_to_air(air_to_vacuum(w)), w, 1e-6);
  }
  EXPECT_NEAR(air_to_vacuum(5000.0), 5001.394, 0.002);
}

}  // namespace
}  // namespace fiberloom
