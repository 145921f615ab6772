// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/disturbance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace skyloom {
namespace {

StreamName name_of(std::uint64_t detector) {
  return {.realization = 1, .telescope = 7, .component = 0, .observation = 5, .detector = detector};
}

TEST(Gain, BeginsAtOneAndEndsWithTheSpreadThatWasAskedFor) {
  constexpr std::size_t kDetectors = 4000;
  const GainOptions drift{.drift = 0.01}, walk{.walk = 0.02};
  std::vector<double> gain(1801);  // an hour at half a hertz
  double ends[2] = {0, 0}, middle = 0;
  for (std::size_t d = 0; d < kDetectors; ++d) {
    make_gain(drift, name_of(d), 0.5, gain);
    EXPECT_EQ(gain[0], 1);
    EXPECT_NEAR(gain[900] - 1, (gain[1800] - 1) / 2, 1e-12);  // a straight line
    ends[0] += (gain[1800] - 1) * (gain[1800] - 1);
    make_gain(walk, name_of(d), 0.5, gain);
    EXPECT_EQ(gain[0], 1);
    ends[1] += (gain[1800] - 1) * (gain[1800] - 1);
    middle += (gain[900] - 1) * (gain[900] - 1);
  }
  EXPECT_NEAR(std::sqrt(ends[0] / kDetectors), 0.01, 0.0004);  // 3.5 sigma of 4000 numbers
  EXPECT_NEAR(std::sqrt(ends[1] / kDetectors), 0.02, 0.0008);
  EXPECT_NEAR(middle / ends[1], 0.5, 0.04);  // a walk's square grows with the time
}

TEST(Glitches, AreAsManyAndAsHighAsAskedFor) {
  constexpr std::size_t kSamples = 360000;  // an hour
  std::size_t pulses = 0;
  double heights = 0;
  std::vector<double> signal;
  for (std::size_t d = 0; d < 20; ++d) {
    signal.assign(kSamples, 0.0);
    add_glitches({.per_hour = 200, .height_k = 3, .decay_s = 0}, name_of(d), 100, signal);
    for (const double value : signal) {
      pulses += value > 0 ? 1 : 0;
      heights += value;
    }
  }
  EXPECT_NEAR(static_cast<double>(pulses), 4000, 250);               // 4 sigma
  EXPECT_NEAR(heights / static_cast<double>(pulses), 3, 3 * 0.065);  // 4 sigma
}

TEST(Glitches, RiseAtOnceAndDecayByTheirTime) {
  std::vector<double> signal(3600, 0.0);
  add_glitches({.per_hour = 3, .height_k = 1, .decay_s = 5}, name_of(3), 1, signal);
  std::size_t first = 0;
  while (first < signal.size() && signal[first] == 0) ++first;
  ASSERT_LT(first + 10, signal.size());
  for (std::size_t i = 1; i < 10; ++i) {
    EXPECT_NEAR(signal[first + i] / signal[first], std::exp(-static_cast<double>(i) / 5), 1e-14);
  }
}

}  // namespace
}  // namespace skyloom
