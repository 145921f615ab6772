// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/robust.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/redshift/sky_residual.hpp"
#include "fiberloom/redshift/test_spectra.hpp"

namespace fiberloom::redshift {
namespace {

/// A block of noise 1 about a continuum, with R of sigma 0.75 pixels.
Block blank(std::size_t n, std::uint64_t seed) {
  Block b;
  b.pixels = n;
  b.ndiag = 11;
  b.weight = Buffer<double>(n, 1.0);
  b.flux = Buffer<double>(n, 0.0);
  b.rows = Buffer<double>(n * 11, 0.0);
  const CounterRng rng(seed, 1);
  for (std::size_t i = 0; i < n; ++i) {
    b.flux[i] = 3 + rng.normal(i);
    double sum = 0;
    for (int d = -5; d <= 5; ++d) sum += std::exp(-0.5 * d * d / 0.5625);
    for (int d = -5; d <= 5; ++d)
      b.rows[11 * i + static_cast<std::size_t>(d + 5)] = std::exp(-0.5 * d * d / 0.5625) / sum;
  }
  return b;
}

TEST(HotPixels, SpikesAreDroppedAndNothingElseOfNoise) {
  std::size_t of_noise = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Block b = blank(2000, seed);
    of_noise += drop_hot_pixels(b, 5);
    b = blank(2000, seed);
    b.flux[500] += 25;
    b.flux[900] += 60;
    b.flux[901] += 50;
    EXPECT_GE(drop_hot_pixels(b, 5), 3U);
    EXPECT_EQ(b.weight[500], 0);
    EXPECT_EQ(b.weight[900] + b.weight[901], 0);
    EXPECT_EQ(b.flux[500], 0);
  }
  EXPECT_EQ(of_noise, 0U);
}

TEST(HotPixels, WhatStandsAroundCountsByItsMedian) {
  const auto dropped = [](std::initializer_list<std::size_t> bright) {  // of twelve around 500
    Block b = blank(1000, 4);
    b.flux[500] += 60;
    for (const std::size_t i : bright) b.flux[i] += 1000;
    (void)drop_hot_pixels(b, 5);
    return b.weight[500] == 0;
  };
  EXPECT_TRUE(dropped({503, 504, 505, 506, 507}));
  EXPECT_FALSE(dropped({493, 502, 503, 504, 505, 506, 507}));
}

TEST(HotPixels, TheNarrowestLinesStayHoweverBright) {
  for (const double bright : {10.0, 100.0, 1e4, 1e6}) {
    for (double at = 100; at < 101; at += 0.1) {
      Block b = blank(200, 3);
      for (std::size_t i = 80; i < 120; ++i) {
        const double d = static_cast<double>(i) - at;
        b.flux[i] += bright * std::exp(-0.5 * d * d / 0.5625);
      }
      EXPECT_EQ(drop_hot_pixels(b, 5), 0U) << bright << " at " << at;
      for (std::size_t i = 80; i < 120; ++i) {  // and deep absorption
        const double d = static_cast<double>(i) - at;
        b.flux[i] = bright * (1 - 0.9 * std::exp(-0.5 * d * d / 0.5625)) +
                    bright * (1 - 0.9 * std::exp(-0.5 * (d - 2.5) * (d - 2.5) / 0.5625));
      }
      EXPECT_EQ(drop_hot_pixels(b, 5), 0U) << bright << " absorbed at " << at;
    }
  }
}

TEST(SkyLines, WeighLessTheBrighterTheyAre) {
  Block b = blank(400, 1);
  b.weight[100] = 1.0 / 3;
  b.weight[200] = 1.0 / 101;
  widen_sky_lines(b, usual_variance(b), 0.15);
  EXPECT_EQ(b.weight[50], 1);
  EXPECT_NEAR(1 / b.weight[100], 3 + 0.09, 1e-12);
  EXPECT_NEAR(1 / b.weight[200], 101 + 225, 1e-9);
  b.weight.fill(0);
  widen_sky_lines(b, usual_variance(b), 0.15);
  EXPECT_EQ(b.weight[7], 0);
}

}  // namespace
}  // namespace fiberloom::redshift
