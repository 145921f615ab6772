// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tomoloom {
namespace {

TEST(Filter, TheRampIsThatOfTheSampledConvolution) {
  const std::size_t n = 256;
  const auto ramp = bandlimited_ramp(n);
  ASSERT_EQ(ramp.size(), n / 2);
  // 1/4 = 2 / pi^2 times the sum of 1/k^2 over odd k: what is missing is the tail beyond n/2.
  EXPECT_GT(ramp[0], 0);
  EXPECT_NEAR(ramp[0], 2 / (std::numbers::pi * std::numbers::pi * n), 1e-5);
  for (std::size_t j = 8; j < n / 2; ++j) {
    EXPECT_NEAR(ramp[j], static_cast<double>(j) / n, 1e-3) << j;
  }
}

TEST(Filter, EveryWindowIsOneAtZeroAndFallsTowardTheEnd) {
  for (const auto& [filter, name] : filter_names()) {
    const FilterChoice choice{.filter = filter};
    EXPECT_NEAR(filter_window(choice, 0), 1, 1e-12) << name;
    EXPECT_LE(filter_window(choice, 0.45), 1) << name;
  }
  EXPECT_NEAR(filter_window({.filter = Filter::kHann}, 0.125), 0.5, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kHann, .cutoff = 1}, 0.25), 0.5, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kParzen}, 0.25), 0.125, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kHamming}, 0.125), 0.54, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kCosine}, 0.25), std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kShepp}, 0.5), 2 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kButterworth, .cutoff = 0.2}, 0.2), 0.5, 1e-12);
}

}  // namespace
}  // namespace tomoloom
