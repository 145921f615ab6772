// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/air.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tomoloom {
namespace {

TEST(BalanceAir, ABeamThatFallsAlongTheRowIsLevel) {
  std::vector<float> rows;
  for (std::size_t x = 0; x < 11; ++x) rows.push_back(2.0F - 0.1F * static_cast<float>(x));
  for (std::size_t x = 0; x < 11; ++x) rows.push_back(x > 3 && x < 7 ? 0.25F : 0.5F);
  balance_air(rows, 11, 1);
  for (std::size_t x = 0; x < 11; ++x) {
    EXPECT_NEAR(rows[x], 1, 1e-6F) << x;
    EXPECT_NEAR(rows[11 + x], x > 3 && x < 7 ? 0.5F : 1.0F, 1e-6F) << x;
  }
}

TEST(BalanceAir, NoLightIsLeftAsItIs) {
  std::vector<float> row{0, 0.5F, 0};
  balance_air(row, 3, 1);
  EXPECT_EQ(row, (std::vector<float>{0, 0.5F, 0}));
}

}  // namespace
}  // namespace tomoloom
