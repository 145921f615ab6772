// SPDX-License-Identifier: BSD-3-Clause
// Factors of fibres on the sky's lines, against those that were put in.
#include "fiberloom/calibrate/sky_throughput.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/rng.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kPixels = 900;
constexpr double kFlat = 40;

/// Three fibres that see lines of the real sky on a continuum.
struct LinesOfSky {
  SkyModel sky;
  Array2D<double> flux{3, kPixels}, ivar{3, kPixels, 0.04};

  explicit LinesOfSky(const std::vector<double>& factors) {
    sky.flux = Array2D<double>(3, kPixels, kFlat);
    sky.ivar = Array2D<double>(3, kPixels, 10.0);
    const loom::CounterRng rng(3, 3);
    for (std::size_t i = 0; i < kPixels; ++i) {
      sky.wave.push_back(6150 + 0.8 * static_cast<double>(i));
      double light = 0;
      for (const double line : {6302.06, 6500.48, 6564.59, 6831.19}) {
        light += 900 * std::exp(-0.5 * std::pow((sky.wave[i] - line) / 0.5, 2));
      }
      for (std::size_t s = 0; s < 3; ++s) {
        sky.flux(s, i) += light;
        flux(s, i) = 2 * kFlat + factors[s] * light + 5 * rng.normal(s * kPixels + i);
      }
    }
  }
};

TEST(LineThroughput, IsThatOfEachFibre) {
  const std::vector<double> factors{1.0, 1.05, 0.93};
  const LinesOfSky x(factors);
  const std::vector<double> found = line_throughput(x.flux, x.ivar, x.sky);
  for (std::size_t s = 0; s < 3; ++s) EXPECT_NEAR(found[s], factors[s], 0.015) << s;
}

TEST(LineThroughput, LeavesOutALineOfTheTargetAndIsOneOfWhatIsNotSeen) {
  LinesOfSky x({1.0, 1.0, 1.0});
  for (std::size_t i = 0; i < kPixels; ++i) {
    x.flux(1, i) += 700 * std::exp(-0.5 * std::pow((x.sky.wave[i] - 6500.48) / 0.5, 2));
    x.ivar(2, i) = 0;
    x.flux(2, i) = std::nan("");
  }
  const std::vector<double> found = line_throughput(x.flux, x.ivar, x.sky);
  EXPECT_NEAR(found[1], 1, 0.02);
  EXPECT_EQ(found[2], 1);
}

TEST(LineThroughput, ScalesLinesAndNoContinuum) {
  const LinesOfSky x({1.0, 1.0, 1.0});
  const std::vector<std::size_t> between = bins_between_lines(x.sky.wave);
  std::vector<double> sky(x.sky.flux.row(0), x.sky.flux.row(0) + kPixels);
  scale_lines(x.sky.wave, between, 1.1, sky);
  for (std::size_t i = 0; i < kPixels; ++i) {
    const double line = x.sky.flux(0, i) - kFlat;
    EXPECT_NEAR(sky[i], kFlat + 1.1 * line, 0.02 * line + 3) << x.sky.wave[i];
  }
  EXPECT_LT(between.size(), kPixels);
  EXPECT_EQ(bins_between_lines(std::vector<double>{5578.0, 5579.0}).size(), 2U);  // too blue
}

}  // namespace
}  // namespace fiberloom::calibrate
