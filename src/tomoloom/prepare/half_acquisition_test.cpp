// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/half_acquisition.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tomoloom {
namespace {

TEST(HalfAcquisition, AddsWhatTheShorterSideLacks) {
  const HalfAcquisition near_left = half_acquisition(40, 6);
  EXPECT_EQ(near_left.width, 67U);  // 33 to either side
  EXPECT_EQ(near_left.left, 27U);
  EXPECT_EQ(near_left.centre, 33);
  const HalfAcquisition near_right = half_acquisition(40, 32.5);
  EXPECT_EQ(near_right.left, 0U);
  EXPECT_EQ(near_right.centre, 32.5);
  EXPECT_EQ(near_right.width, 66U);
  EXPECT_EQ(half_acquisition(41, 20).width, 41U);
}

TEST(HalfAcquisition, APixelAndItsMirrorCountTwoTogether) {
  for (const double centre : {6.0, 6.25, 32.5}) {
    const HalfAcquisition half = half_acquisition(40, centre);
    const auto weight = [&](double x) {  // between pixels: 0 or 2 beyond the ends
      const bool first = x < 0, more_right = centre < 19.5;
      if (x < 0 || x > 39) return first == more_right ? 0.0 : 2.0;
      const auto i = static_cast<std::size_t>(x);
      const double share = x - std::floor(x);
      return (1 - share) * static_cast<double>(half.weight[i]) +
             share * static_cast<double>(half.weight[std::min<std::size_t>(i + 1, 39)]);
    };
    for (std::size_t x = 0; x < 40; ++x) {
      const double mirror = 2 * centre - static_cast<double>(x);
      if (mirror < -1 || mirror > 40) {
        EXPECT_EQ(half.weight[x], 2);
      } else {
        EXPECT_NEAR(static_cast<double>(half.weight[x]) + weight(mirror), 2, 0.05) << x;
      }
    }
  }
}

TEST(HalfAcquisition, LinesGetWiderWhereTheyAre) {
  const HalfAcquisition half = half_acquisition(4, 0.5);
  ASSERT_EQ(half.width, 6U);
  LargeVector<float> lines{1, 2, 3, 4, 5, 6, 7, 8};
  widen(half, lines);
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(lines[0], 0);
  EXPECT_EQ(lines[5], 8);
  EXPECT_EQ(lines[6], 0);
  EXPECT_EQ(lines[11], 16);
  EXPECT_EQ(lines[9], 12);
}

}  // namespace
}  // namespace tomoloom
