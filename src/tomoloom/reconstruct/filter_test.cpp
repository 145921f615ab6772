// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "loom/testing/test_files.hpp"
#include "tomoloom/status.hpp"

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
    EXPECT_LE(filter_window(choice, 0.45), 1) << name;  // custom: 1, its weights are all
  }
  EXPECT_NEAR(filter_window({.filter = Filter::kHann}, 0.125), 0.5, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kHann, .cutoff = 1}, 0.25), 0.5, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kParzen}, 0.25), 0.125, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kHamming}, 0.125), 0.54, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kCosine}, 0.25), std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kShepp}, 0.5), 2 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(filter_window({.filter = Filter::kButterworth, .cutoff = 0.2}, 0.2), 0.5, 1e-12);
}

TEST(Filter, WeightsOfOnesOwnAreAllThatFrequenciesAreMultipliedBy) {
  const std::vector<double> ramp{0, 1, 2};
  const FilterResponse same({.filter = Filter::kCustom, .weights = {5, -7, 9}}, ramp, 2);
  const FilterResponse each({.filter = Filter::kCustom2d, .weights = {1, 2, 3, 4, 5, 6}}, ramp, 2);
  for (std::size_t a = 0; a < 2; ++a) {
    EXPECT_EQ(same.at(a, 1), -7);
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_EQ(each.at(a, j), static_cast<double>(3 * a + j + 1));
  }
  const FilterResponse ramlak({.filter = Filter::kRamlak}, ramp, 2);
  EXPECT_EQ(ramlak.at(1, 2), 2);
}

TEST(Filter, WeightsThatDoNotFitAreRefused) {
  const auto refusal = [](Filter filter, std::vector<double> weights) {
    return loom::test::thrown_by([&] {
      (void)FilterResponse({.filter = filter, .weights = std::move(weights)}, {0, 1, 2}, 2);
    });
  };
  EXPECT_EQ(refusal(Filter::kCustom, {1, 2}).message,
            "filter weights: found 2 numbers, expected 3: one a frequency of a line of 6 points, "
            "from 0 to below half a cycle a pixel");
  EXPECT_EQ(refusal(Filter::kCustom2d, {1, 2, 3}).message,
            "filter weights: found 3 numbers, expected 6, 3 for each of 2 angles: one a frequency "
            "of a line of 6 points, from 0 to below half a cycle a pixel");
  for (const double wrong : {std::nan(""), HUGE_VAL, -1e21}) {
    EXPECT_EQ(refusal(Filter::kCustom, {1, 2, wrong}).status, kScanMismatch);
  }
}

}  // namespace
}  // namespace tomoloom
