// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/storable.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fiberloom {
namespace {

TEST(Storable, IsWhatStaysFiniteAndKeepsItsInformationAsFloat32) {
  EXPECT_TRUE(storable(1, 1, 1));
  EXPECT_TRUE(storable(0, 1, -3));
  EXPECT_TRUE(storable(kMostStored, kMostStored, -kMostStored));
  EXPECT_TRUE(storable(0, kLeastStored, 0));
  for (const double bad : {1e38, -1e38, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    EXPECT_FALSE(storable(bad, 1, 0)) << bad;
    EXPECT_FALSE(storable(0, 1, bad)) << bad;
    EXPECT_FALSE(storable(0, bad, 0)) << bad;
  }
  EXPECT_FALSE(storable(0, 0, 0)) << "no information";
  EXPECT_FALSE(storable(0, -1, 0));
  EXPECT_FALSE(storable(0, 1e-38, 0));
}

TEST(Storable, LimitsLieInsideTheNormalNumbersOfFloat32) {
  using Float = std::numeric_limits<float>;
  EXPECT_LT(kMostStored, static_cast<double>(Float::max()));
  EXPECT_GT(kLeastStored, static_cast<double>(Float::min()));
  EXPECT_LT(kMostChi2, kMostStored);
}

}  // namespace
}  // namespace fiberloom
