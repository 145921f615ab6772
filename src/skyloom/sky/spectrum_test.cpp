// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/testing/test_executor.hpp"

namespace skyloom {
namespace {

/// The map that the figures below are of; 60 pixels are not seen.
std::vector<std::vector<double>> some_maps(std::int64_t nside) {
  const auto pixels = static_cast<std::size_t>(12 * nside * nside);
  std::vector<std::vector<double>> out(3, std::vector<double>(pixels));
  for (std::size_t i = 0; i < 3 * pixels; ++i) {
    out[i % 3][i / 3] = std::sin(1 + 0.37 * static_cast<double>(i));
  }
  for (std::size_t i = 100; i < 160; ++i) out[0][i] = out[1][i] = out[2][i] = NAN;
  return out;
}

TEST(PowerSpectra, AreHealpys) {
  // healpy 1.20: anafast(iter=0, pol=True) of the same map without its mean, over the share of the
  // sky
  const struct {
    std::size_t l;
    double tt, ee, bb;
  } healpy[] = {{2, 7.49453117674526e-06, 1.95417856987183e-05, 3.69370670819567e-05},
                {3, 4.56512019512278e-06, 5.2971774437821e-06, 2.51374838795286e-05},
                {10, 0.000503875518070532, 0.000131082093386924, 0.000478499744176379},
                {32, 0.00335224764854187, 0.00352301075942829, 0.00340399487765521}};
  SerialExecutor one;
  const Spectra found = power_spectra(Healpix(16), some_maps(16), 32, one);
  ASSERT_EQ(found.tt.size(), 33U);
  for (const auto& at : healpy) {
    EXPECT_NEAR(found.tt[at.l] / at.tt, 1, 1e-10) << at.l;
    EXPECT_NEAR(found.ee[at.l] / at.ee, 1, 1e-10) << at.l;
    EXPECT_NEAR(found.bb[at.l] / at.bb, 1, 1e-10) << at.l;
  }
  EXPECT_NEAR(found.sky_share, 1 - 60.0 / 3072, 1e-15);
  TestThreads three(3);
  EXPECT_EQ(power_spectra(Healpix(16), some_maps(16), 32, three).ee, found.ee);
}

TEST(PowerSpectra, KeepTheirDigitsToTheirEnd) {
  // white noise of unit variance has C_l = 4 pi / pixels, whatever l
  const Healpix sky(128);
  std::vector<std::vector<double>> map(1,
                                       std::vector<double>(static_cast<std::size_t>(sky.pixels())));
  for (std::size_t i = 0; i < map[0].size(); ++i) {
    map[0][i] = std::sqrt(2.0) * std::sin(0.1 * static_cast<double>(i * i % 100003));
  }
  TestThreads two(2);
  const Spectra found = power_spectra(sky, map, 512, two);
  double sum = 0;
  for (std::size_t l = 400; l <= 512; ++l) sum += found.tt[l];
  EXPECT_NEAR(sum / 113 / (4 * std::numbers::pi / static_cast<double>(sky.pixels())), 1, 0.1);
}

TEST(Coarser, TakesTheMeanOfWhatIsSeen) {
  const Healpix fine(4), wide(2);
  std::vector<double> values(192, NAN);
  values[0] = 1;
  values[3] = 3;
  values[4] = 5;
  const std::vector<double> found = coarser(fine, values, wide);
  EXPECT_EQ(found[0], 2);
  EXPECT_EQ(found[1], 5);
  EXPECT_TRUE(std::isnan(found[2]));
}

}  // namespace
}  // namespace skyloom
