// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/outlier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tomoloom {
namespace {

TEST(RemoveOutlier, TakesSinglePixelsThatAreBrightAndNothingElse) {
  constexpr std::size_t kAngles = 20, kColumns = 30;
  std::vector<float> clean;
  for (std::size_t i = 0; i < kAngles * kColumns; ++i) {
    const double x = static_cast<double>(i % kColumns), a = static_cast<double>(i / kColumns);
    clean.push_back(static_cast<float>(0.5 + 0.2 * std::sin(0.1 * x + 0.05 * a)));
  }
  std::vector<float> hit = clean;
  for (const std::size_t i : {std::size_t{0}, std::size_t{95}, kAngles * kColumns - 1}) hit[i] += 3;
  hit[200] -= 0.4F;  // dark ones stay
  EXPECT_EQ(remove_outlier({hit.data(), kAngles, kColumns, kColumns}, 1, 3), 3U);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    EXPECT_NEAR(hit[i], i == 200 ? clean[i] - 0.4F : clean[i], 0.03) << i;
  }
  std::vector<float> same = clean;
  EXPECT_EQ(remove_outlier({same.data(), kAngles, kColumns, kColumns}, 1, 3), 0U);
  EXPECT_EQ(same, clean);
}

}  // namespace
}  // namespace tomoloom
