// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/normalize.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tomoloom {
namespace {

TEST(Normalize, CountsBecomeLineIntegralsOnEveryLevel) {
  const std::vector<float> dark{100, 100, 200, 0, 50}, flat{1100, 2100, 1200, 40000, 150};
  const Gain gain = make_gain(flat, dark);
  const std::vector<std::uint16_t> counts{600, 2100, 210, 1, 60000};
  for (const Isa isa : available_isas()) {
    std::vector<float> out(5);
    normalize(counts, gain, Logarithm::kNone, out, isa);
    for (std::size_t i = 0; i < 5; ++i) {
      const double want = (1.0 * counts[i] - static_cast<double>(dark[i])) /
                          (static_cast<double>(flat[i]) - static_cast<double>(dark[i]));
      EXPECT_NEAR(out[i], want, 1e-6 * want);
    }
    normalize(counts, gain, Logarithm::kMinusLog, out, isa);
    EXPECT_NEAR(out[0], std::log(2.0), 3e-7);
    EXPECT_NEAR(out[1], 0, 3e-7);
    EXPECT_NEAR(out[3], std::log(40000.0), 3e-6);
  }
}

TEST(Normalize, TheLogarithmIsGoodOverItsWholeRange) {
  const Gain gain{.dark = {0}, .scale = {1}};
  for (const Isa isa : available_isas()) {
    for (double x = 1e-6; x < 1e6; x *= 1.003) {
      const std::vector<float> in{static_cast<float>(x)};
      std::vector<float> out(1);
      normalize(in, gain, Logarithm::kMinusLog, out, isa);
      const double want = -std::log(static_cast<double>(in[0]));
      ASSERT_NEAR(out[0], want, 3e-7 * std::max(1.0, std::abs(want))) << x;
    }
  }
}

TEST(Normalize, FlatsAtTheEndOfTheRangeAreSaturatedAndOthersAreNot) {
  using Pixels = std::vector<std::size_t>;
  const std::vector<std::uint16_t> clipped{65535, 9000,  65535, 65535, 9100,
                                           65535, 65535, 9200,  60000};
  EXPECT_EQ(saturated_pixels(clipped, 3), (Pixels{0, 2}));  // of the last one two of three frames
  const std::vector<float> twelve_bits{4095, 4095, 10, 4095, 4000, 4094, 4095, 4001, 11};
  EXPECT_EQ(saturated_pixels(twelve_bits, 3), (Pixels{0}));
  const std::vector<std::uint16_t> bright{65534, 9000, 65534, 9000};
  EXPECT_EQ(saturated_pixels(bright, 2), Pixels{});
  EXPECT_EQ(saturated_pixels(std::vector<float>{}, 2), Pixels{});
}

TEST(Normalize, WhatIsNoNumberInSomeFramesLeavesTheMeanAndMedianOfTheOthers) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  std::vector<float> frames;
  for (int frame = 0; frame < 40; ++frame) {
    frames.push_back(static_cast<float>(frame));
    frames.push_back(frame % 3 == 1 ? kNan : 100);
    frames.push_back(frame == 7 ? kInfinite : static_cast<float>(frame % 2));
    frames.push_back(frame % 2 == 1 ? kNan : kInfinite);
  }
  for (const Averaging how : {Averaging::kMean, Averaging::kMedian}) {
    const std::vector<float> average = average_frames(frames, 4, how);
    EXPECT_EQ(average[0], 19.5F);
    EXPECT_EQ(average[1], 100);
    EXPECT_EQ(average[2], how == Averaging::kMean ? static_cast<float>(19.0 / 39) : 0);
    EXPECT_TRUE(std::isnan(average[3]));  // and none where there are no others
    EXPECT_EQ(make_gain(average, std::vector<float>(4, -1)).blind, 1U);
  }
}

TEST(Normalize, NothingThatComesOutIsNoNumber) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const std::vector<float> dark{0, 0, 0, 10, 0, 0}, flat{1, 1, 1, 10, 5, kNan};
  const Gain gain = make_gain(flat, dark);
  EXPECT_EQ(gain.blind, 2U);  // no light, and no number
  const std::vector<float> counts{kNan, kInfinite, -3, 7, 0, 1};
  for (const Isa isa : available_isas()) {
    std::vector<float> out(6);
    normalize(counts, gain, Logarithm::kMinusLog, out, isa);
    const float most = -std::log(kLeastTransmission);
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[1], 0);
    EXPECT_NEAR(out[2], most, 1e-5);
    EXPECT_EQ(out[3], 0);
    EXPECT_NEAR(out[4], most, 1e-5);
    EXPECT_EQ(out[5], 0);
  }
}

TEST(Normalize, FramesAreAveragedPixelByPixel) {
  const std::vector<std::uint16_t> frames{1, 10, 3, 20, 80, 21};
  EXPECT_EQ(average_frames(frames, 2, Averaging::kMean), (std::vector<float>{28, 17}));
  EXPECT_EQ(average_frames(frames, 2, Averaging::kMedian), (std::vector<float>{3, 20}));
  const std::vector<float> even{1, 2, 5, 4};
  EXPECT_EQ(average_frames(even, 1, Averaging::kMedian), (std::vector<float>{3}));
}

}  // namespace
}  // namespace tomoloom
