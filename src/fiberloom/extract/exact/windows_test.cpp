// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/exact/windows.hpp"

#include <gtest/gtest.h>

namespace fiberloom::exact {
namespace {

TEST(Windows, EveryBinLiesInOneCoreAndInItsWindowsRows) {
  for (const int nbin : {1, 7, 64, 95, 96, 500, 2422, 10000}) {
    for (const int skirt : {0, 1, 8, 48, 400}) {
      const Windows w = cut_windows(nbin, skirt);
      ASSERT_GE(w.count, 1);
      ASSERT_LE(w.count, kLanes);
      for (int j = 0; j < nbin; ++j) {
        const int lane = w.window_of(j), row = j - w.bin(lane, 0);
        ASSERT_GE(lane, 0);
        ASSERT_LT(lane, w.count);
        ASSERT_GE(row, w.skirt) << nbin << " " << skirt << " " << j;
        ASSERT_LT(row, w.rows - w.skirt) << nbin << " " << skirt << " " << j;
        ASSERT_EQ(w.bin(lane, row), j);
        ASSERT_TRUE(w.inside(lane, row));
      }
    }
  }
}

TEST(Windows, AreWorthTheirSkirtsAndOneHasNone) {
  for (int nbin = 1; nbin < 1000; nbin += 13) {
    const Windows w = cut_windows(nbin, 24);
    if (w.count == 1) {
      EXPECT_EQ(w.skirt, 0);
      EXPECT_EQ(w.rows, nbin);
    } else {
      EXPECT_GE(w.stride, 2 * w.skirt);
    }
  }
  EXPECT_EQ(cut_windows(2422, 48).count, kLanes);
  EXPECT_EQ(cut_windows(2422, 2422).count, 1);
}

TEST(Windows, OfAPartHoldEachOfItsBinsOnce) {
  for (const BinRange part :
       {BinRange{0, 9}, BinRange{40, 41}, BinRange{100, 259}, BinRange{290, 300}}) {
    const Windows w = cut_part(300, part, 12);
    EXPECT_EQ(w.core().first, part.first);
    EXPECT_GE(w.core().last, part.last);
    ASSERT_LE(w.count, kLanes);
    for (int j = part.first; j < part.last; ++j) {
      const int lane = w.window_of(j), row = j - w.bin(lane, 0);
      ASSERT_GE(lane, 0);
      ASSERT_LT(lane, w.count);
      ASSERT_GE(row, w.skirt) << j;
      ASSERT_LT(row, w.rows - w.skirt) << j;
      ASSERT_TRUE(w.inside(lane, row));
    }
  }
}

TEST(Windows, LanesBeyondTheLastRepeatIt) {
  const Windows w = cut_windows(300, 48);
  ASSERT_EQ(w.count, 3);
  for (int lane = 3; lane < kLanes; ++lane) EXPECT_EQ(w.bin(lane, 5), w.bin(2, 5));
  EXPECT_FALSE(w.inside(0, 47));  // a skirt before the first bin
  EXPECT_TRUE(w.inside(0, 48));
  EXPECT_FALSE(w.inside(2, w.rows - 1));
}

}  // namespace
}  // namespace fiberloom::exact
