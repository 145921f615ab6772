// SPDX-License-Identifier: BSD-3-Clause
#include "loom/base/median.hpp"

#include <gtest/gtest.h>

#include "loom/base/rng.hpp"

namespace loom {
namespace {

TEST(Median, IsThatOfTheSortedValuesForAnyNumberOfThemWithRepetitions) {
  const CounterRng rng(3, 1);
  for (std::size_t n = 1; n < 60; ++n) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i)  // half of them are one of a few numbers
      values.push_back(i % 2 == 0 ? std::floor(5 * rng.uniform(100 * n + i)) : rng.normal(i));
    std::vector<double> sorted = values, all = values;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(median_of(values), 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])) << n;
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, sorted) << "no value may be lost";
    EXPECT_EQ(upper_median(all), sorted[n / 2]) << n;
  }
}

TEST(Median, OfNothingIsZeroWhereOneAsksForTheUpper) {
  std::vector<float> none;
  EXPECT_EQ(upper_median(none), 0.0F);
}

}  // namespace
}  // namespace loom
