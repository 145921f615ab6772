// SPDX-License-Identifier: BSD-3-Clause
// Structure function and spectrum of a screen against theory, to 5 %.
#include "skyloom/noise/turbulent_screen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "loom/testing/test_executor.hpp"

namespace skyloom {
namespace {

constexpr ScreenShape kShape{.cell_m = 2, .outer_m = 60, .columns = 960, .rows = 750};
constexpr StreamName kScreenName{.realization = 4, .telescope = 1, .component = 0};

TEST(Turbulence, HasKolmogorovsStructureFunctionWellBelowTheOuterScale) {
  const auto structure = [](double r) { return 2 * (1 - turbulence_covariance(r, 1000)); };
  EXPECT_NEAR(structure(0.2) / structure(0.1), std::pow(2, 5.0 / 3), 0.07);  // nears it slowly
  EXPECT_NEAR(turbulence_covariance(0, 1000), 1, 0);
  EXPECT_LT(turbulence_covariance(1000, 1000), 0.01);
}

TEST(TurbulentScreen, HasTheStructureFunctionOfTheory) {
  SerialExecutor one;
  const std::size_t lags[] = {1, 2, 4, 8, 15, 30};
  double found[2][6] = {};
  for (std::uint64_t k = 0; k < 3; ++k) {
    StreamName name = kScreenName;
    name.realization = k;
    const TurbulentScreen screen(kShape, name, one);
    EXPECT_LT(screen.lost(), 1e-5);
    for (std::size_t l = 0; l < 6; ++l) {
      for (std::size_t r = 0; r + 30 < kShape.rows; ++r) {
        for (std::size_t c = 0; c + 30 < kShape.columns; ++c) {
          const double here = screen.node(c, r);
          const double across = screen.node(c + lags[l], r) - here;
          const double down = screen.node(c, r + lags[l]) - here;
          found[0][l] += across * across;
          found[1][l] += down * down;
        }
      }
    }
  }
  const double count = 3.0 * (kShape.rows - 30) * (kShape.columns - 30);
  for (std::size_t l = 0; l < 6; ++l) {
    const double distance = kShape.cell_m * static_cast<double>(lags[l]);
    const double theory = 2 * (1 - turbulence_covariance(distance, kShape.outer_m));
    EXPECT_NEAR(found[0][l] / count / theory, 1, 0.05) << distance;
    EXPECT_NEAR(found[1][l] / count / theory, 1, 0.05) << distance;
  }
}

/// Blown across a telescope that stares: P(k) = c (k0^2 + k^2)^(-4/3) along a line.
TEST(TurbulentScreen, HasTheSpectrumOfTheoryAlongALine) {
  SerialExecutor one;
  const double k0 = 2 * std::numbers::pi / kShape.outer_m;
  const double c = 2 * std::sqrt(std::numbers::pi) * std::tgamma(4.0 / 3) / std::tgamma(5.0 / 6) *
                   std::pow(k0, 5.0 / 3);
  const double length = kShape.cell_m * static_cast<double>(kShape.columns);
  std::vector<std::complex<double>> turns(kShape.columns);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(turns.size());
    turns[i] = std::polar(1.0, 2 * std::numbers::pi * share);
  }
  constexpr std::size_t kFirsts[] = {4, 16, 48, 96}, kWide = 12, kScreens = 6, kEvery = 5;
  double found[4] = {}, theory[4] = {};
  for (std::size_t s = 0; s < kScreens; ++s) {
    StreamName name = kScreenName;
    name.realization += s;
    const TurbulentScreen screen(kShape, name, one);
    for (std::size_t n = 0; n < 4 * kWide; ++n) {
      const std::size_t h = kFirsts[n / kWide] + n % kWide;
      const double k = 2 * std::numbers::pi * static_cast<double>(h) / length;
      for (std::size_t r = 0; r < kShape.rows; r += kEvery) {
        std::complex<double> sum = 0;
        for (std::size_t i = 0; i < kShape.columns; ++i) {
          sum += static_cast<double>(screen.node(i, r)) * turns[h * i % kShape.columns];
        }
        found[n / kWide] += std::norm(sum) * kShape.cell_m * kShape.cell_m / length;
        theory[n / kWide] += c * std::pow(k0 * k0 + k * k, -4.0 / 3);
      }
    }
  }
  for (std::size_t b = 0; b < 4; ++b) EXPECT_NEAR(found[b] / theory[b], 1, 0.05) << kFirsts[b];
}

TEST(TurbulentScreen, IsTheSameForAnyThreadsAndGoesOnAroundTheTorus) {
  SerialExecutor one;
  TestThreads three(3);
  const ScreenShape shape{.cell_m = 2, .outer_m = 60, .columns = 100, .rows = 90};
  const TurbulentScreen a(shape, kScreenName, one), b(shape, kScreenName, three);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t c = 0; c < shape.columns; ++c) ASSERT_EQ(a.node(c, r), b.node(c, r));
  }
  EXPECT_EQ(a.at(6, 8), a.node(3, 4));
  const double middle = 9.0 / 16 * (a.node(3, 4) + a.node(4, 4));
  EXPECT_NEAR(a.at(7, 8), middle - (a.node(2, 4) + a.node(5, 4)) / 16, 1e-6);
  EXPECT_EQ(a.at(-2, -2), a.node(99, 89));
  EXPECT_NEAR(a.at(6 + 200, 8 - 180), a.node(3, 4), 1e-6);
  EXPECT_NEAR(a.at(199, 0), a.at(-1, 180), 1e-6);
}

}  // namespace
}  // namespace skyloom
