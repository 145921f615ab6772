// SPDX-License-Identifier: BSD-3-Clause
// Numbers of redshifts and ends as the field has them.
#include "fiberloom/redshift/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/test_status.hpp"

namespace fiberloom::redshift {
namespace {

TEST(Grid, DefaultsHaveTheRedshiftsOfThePeer) {
  const std::vector<double> galaxy = default_grid("GALAXY", {});
  ASSERT_EQ(galaxy.size(), 1446U);  // as in the peer's details files
  EXPECT_NEAR(galaxy.front(), -0.005, 1e-15);
  EXPECT_LT(galaxy.back(), 1.7);
  EXPECT_NEAR(std::log10((1 + galaxy[1000]) / (1 + galaxy[0])), 0.3, 1e-13);
  EXPECT_EQ(default_grid("QSO", {}).size(), 1648U);
  const std::vector<double> star = default_grid("STAR", {});
  ASSERT_EQ(star.size(), 101U);
  EXPECT_NEAR(star[50], 0, 1e-15);
  EXPECT_TRUE(default_grid("PLANET", {}).empty());
}

TEST(Grid, RefusesWhatIsNoRange) {
  for (const GridRule& rule :
       {GridRule{-1, 1, 1e-3}, GridRule{0, 0, 1e-3}, GridRule{0, 1, 0}, GridRule{0, 1, -1},
        GridRule{0, 1, 1e-9}, GridRule{0, HUGE_VAL, 1}, GridRule{std::nan(""), 1, 1}}) {
    EXPECT_EQ(loom::test::status_of([&] { (void)logarithmic_grid(rule); }), Status::kUsage);
    EXPECT_EQ(loom::test::status_of([&] { (void)linear_grid(rule); }), Status::kUsage);
  }
}

TEST(Grid, DenserKeepsTheOldOnesAndTheStep) {
  const std::vector<double> old{0, 0.001, 0.0015, 0.01};
  const std::vector<double> dense = denser(old, 100);
  for (const double z : old) EXPECT_NE(std::find(dense.begin(), dense.end(), z), dense.end());
  for (std::size_t i = 1; i < dense.size(); ++i) {
    EXPECT_GT(dense[i], dense[i - 1]);
    EXPECT_LE(299792.458 * (dense[i] - dense[i - 1]) / (1 + dense[i - 1]), 100 * (1 + 1e-9));
  }
  EXPECT_EQ(dense.size(), 3U + 2U + 26U + 1U);
  EXPECT_EQ(denser(old, 1e6), old);
  EXPECT_TRUE(denser({}, 1).empty());
}

}  // namespace
}  // namespace fiberloom::redshift
