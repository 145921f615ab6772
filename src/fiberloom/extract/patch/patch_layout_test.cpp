// SPDX-License-Identifier: BSD-3-Clause
// The division of bundles into patches.
#include "fiberloom/extract/patch/patch_layout.hpp"

#include <gtest/gtest.h>

namespace fiberloom::patch {
namespace {

ExtractOptions options_for(std::size_t nwave) {
  ExtractOptions options;
  options.wave = linear_wave_grid(5760.0, 5760.0 + 0.8 * static_cast<double>(nwave - 1), 0.8);
  return options;
}

TEST(PaddedGrid, AddsTwelveBinsBeforeAndTwelvePlusAStepAfter) {
  const PaddedGrid grid = padded_grid(options_for(2326));
  EXPECT_EQ(grid.pad, 12U);
  EXPECT_EQ(grid.wave.size(), 12U + 2326U + 12U + 50U);
  EXPECT_NEAR(grid.wave.front(), 5760.0 - 12 * 0.8, 1e-9);
  EXPECT_NEAR(grid.wave.back(), 7620.0 + 62 * 0.8, 1e-9);
}

TEST(PaddedGrid, TakesASingleBin) {
  ExtractOptions options;
  options.wave = {6000.0};
  EXPECT_EQ(padded_grid(options).wave.size(), 12U + 1U + 62U);
}

TEST(PlanBundle, DividesABundleOf25IntoFiveTimes47) {
  const PaddedGrid grid = padded_grid(options_for(2326));
  const auto plans = plan_bundle({25, 50}, grid, {}, 0, 500);
  ASSERT_EQ(plans.size(), 5U * 47U);
  EXPECT_EQ(plans.front().pad_first, 25);  // no neighbour beyond the bundle
  EXPECT_EQ(plans.front().pad_last, 31);
  EXPECT_EQ(plans[47].pad_first, 29);
  EXPECT_EQ(plans[47].pad_last, 36);
  EXPECT_EQ(plans.back().pad_last, 50);
  EXPECT_EQ(plans[46].nwave, 50U);
  EXPECT_EQ(plans[46].nkeep, 26U);
}

TEST(PlanBundle, ASubRangeOfFibersTakesPatchesOfTheSameDivision) {
  const PaddedGrid grid = padded_grid(options_for(60));
  const auto all = plan_bundle({0, 25}, grid, {}, 0, 25);
  const auto some = plan_bundle({0, 25}, grid, {}, 7, 12);
  ASSERT_EQ(some.size(), 4U);
  EXPECT_EQ(some[0].first, all[2].first);
  EXPECT_EQ(some[3].last, all[5].last);
}

TEST(PlanBundle, CoversEveryFiberOfABundleThatDoesNotDivide) {
  const PaddedGrid grid = padded_grid(options_for(10));
  for (const int nfiber : {1, 3, 7, 23}) {
    int next = 100;
    for (const auto& plan : plan_bundle({100, 100 + nfiber}, grid, {}, 0, 500)) {
      EXPECT_EQ(plan.first, next);
      EXPECT_EQ(plan.nkeep, 10U);
      next = plan.last;
    }
    EXPECT_EQ(next, 100 + nfiber);
  }
}

}  // namespace
}  // namespace fiberloom::patch
