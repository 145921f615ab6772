// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/deglitch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace skyloom {
namespace {

constexpr std::size_t kLong = 20000;

/// Normal noise of width 1 on a slow wave of height 100.
std::vector<double> noisy_wave() {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> out(kLong);
  for (std::size_t i = 0; i < kLong; ++i) {
    out[i] = 100 * std::sin(1e-3 * static_cast<double>(i)) + normal(random);
  }
  return out;
}

TEST(Deglitch, FindsPulsesWithTheirTailsAndNothingElse) {
  std::vector<double> values = noisy_wave();
  std::vector<std::uint8_t> flags(kLong, 0), expected(kLong, 0);
  EXPECT_EQ(flag_glitches({.sigmas = 6}, values, flags), 0U);
  for (std::size_t at = 500; at + 100 < kLong; at += 997) {
    for (std::size_t i = 0; i < 40; ++i) {
      const double pulse = 300 * std::exp(-static_cast<double>(i) / 5);
      values[at + i] += pulse;
      if (pulse > 12) expected[at + i] = 1;  // whatever the noise there is
    }
  }
  const std::size_t found = flag_glitches({.sigmas = 6}, values, flags);
  std::size_t flagged = 0;
  for (std::size_t i = 0; i < kLong; ++i) {
    EXPECT_TRUE(expected[i] == 0 || flags[i] != 0) << i;
    flagged += flags[i] != 0 ? 1 : 0;
  }
  EXPECT_EQ(found, flagged);
  EXPECT_LT(flagged, 20U * 40);  // 20 pulses: 17 samples above 12, five and more on either side
}

TEST(Deglitch, TakesItsMeasureFromTheNoise) {
  const std::vector<double> values = noisy_wave();
  std::vector<std::uint8_t> flags(kLong, 0);
  const std::size_t found = flag_glitches({.sigmas = 3, .radius = 0}, values, flags);
  EXPECT_GT(found, 36U);  // 54 +- 7 of 20,000 normal numbers are beyond 3, and some more as they go
  EXPECT_LT(found, 90U);
}

TEST(Deglitch, TakesNoSlopeForAGlitchAtEndsAndBesideGaps) {
  std::vector<double> values = noisy_wave();
  std::vector<std::uint8_t> flags(kLong, 0);
  for (std::size_t i = 0; i < kLong; ++i) values[i] += 5 * static_cast<double>(i);
  for (std::size_t i = 4000; i < 5000; ++i) flags[i] = 1;
  EXPECT_EQ(flag_glitches({.sigmas = 6}, values, flags), 0U);
}

TEST(Deglitch, DoesNotAskWhatIsFlaggedOrNoNumber) {
  std::vector<double> values = noisy_wave();
  std::vector<std::uint8_t> flags(kLong, 0);
  values[7] = NAN;
  values[8] = INFINITY;
  for (std::size_t i = 100; i < 140; ++i) {
    values[i] = 1e6;
    flags[i] = 4;
  }
  EXPECT_EQ(flag_glitches({.sigmas = 6}, values, flags), 0U);
  EXPECT_EQ(flags[7], 0);
  EXPECT_EQ(flags[100], 4);
}

TEST(Deglitch, LeavesWhatHasNoWidthAlone) {
  std::vector<double> values(50, 1.0);
  std::vector<std::uint8_t> flags(50, 0);
  values[10] = 5;
  EXPECT_EQ(flag_glitches({.sigmas = 5}, values, flags), 0U);
  flags.assign(50, 1);
  EXPECT_EQ(flag_glitches({.sigmas = 5}, values, flags), 0U);
  EXPECT_EQ(flag_glitches({.sigmas = 5}, {}, {}), 0U);
}

}  // namespace
}  // namespace skyloom
