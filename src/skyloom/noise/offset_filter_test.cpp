// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/offset_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace skyloom {
namespace {

TEST(OffsetFilter, UndoesTheCovarianceOfOffsets) {
  // convolved with the covariance that belongs to the same spectrum it is 1 at lag 0, 0 elsewhere
  const NoisePsd model =
      analytic_psd({.net = 1, .fmin_hz = 0.01, .fknee_hz = 1, .slope = 1}, 100, "a");
  constexpr double kStep = 1;
  constexpr std::size_t kOffsets = 512;
  const std::vector<double> filter = offset_filter(model, 100, kStep, kOffsets, "a");
  ASSERT_GT(filter.size(), 3U);
  std::vector<double> frequencies;
  for (std::size_t k = 1; k <= kOffsets; ++k) {
    frequencies.push_back(static_cast<double>(k) / (2 * kOffsets * kStep));
  }
  const std::vector<double> psd = offset_psd(model, kStep, frequencies);
  // in frequency: the filter's transform times P_a
  for (std::size_t k = 20; k < kOffsets; k += 50) {
    double transform = filter[0];
    for (std::size_t lag = 1; lag < filter.size(); ++lag) {
      transform +=
          2 * filter[lag] *
          std::cos(2 * 3.14159265358979 * frequencies[k] * kStep * static_cast<double>(lag));
    }
    EXPECT_NEAR(transform * psd[k], 1, 0.05) << k;
  }
}

TEST(OffsetFilter, IsNoneForWhiteNoiseAndForOneOffset) {
  const NoisePsd white = analytic_psd({.net = 1}, 100, "a");
  EXPECT_TRUE(offset_filter(white, 100, 1, 512, "a").empty());
  const NoisePsd pink =
      analytic_psd({.net = 1, .fmin_hz = 0.01, .fknee_hz = 1, .slope = 1}, 100, "a");
  EXPECT_TRUE(offset_filter(pink, 100, 1, 1, "a").empty());
  EXPECT_FALSE(offset_filter(pink, 100, 1, 2, "a").empty());
}

}  // namespace
}  // namespace skyloom
