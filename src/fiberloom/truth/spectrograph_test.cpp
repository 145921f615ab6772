// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/truth/spectrograph.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/spectrum/banded.hpp"

namespace fiberloom::truth {
namespace {

TEST(Spectrograph, HasTheCamerasOfDesi) {
  const Spectrograph spectrograph(900);
  ASSERT_EQ(spectrograph.cameras().size(), 3U);
  const std::size_t bins[] = {2751, 2326, 2881};
  const double first[] = {3600, 5760, 7520};
  for (std::size_t c = 0; c < 3; ++c) {
    const CameraModel& camera = spectrograph.cameras()[c];
    EXPECT_EQ(camera.wave.size(), bins[c]);
    EXPECT_EQ(camera.wave.front(), first[c]);
    double brightest = 0;  // sky_electrons() aims at 300 before the extraction's own gain
    for (std::size_t i = 0; i < bins[c]; ++i) {
      EXPECT_GT(camera.counts[i], 0);
      EXPECT_GT(camera.sky[i], 0);
      brightest =
          std::max(brightest, camera.sky[i] / std::sqrt(camera.sky[i] + camera.read_variance));
    }
    EXPECT_NEAR(brightest, 285, 30) << camera.name;
  }
}

TEST(Spectrograph, ResolutionIsThePsfsWidthAndKeepsLight) {
  const Spectrograph spectrograph(900);
  for (std::size_t c = 0; c < 3; ++c) {
    for (const int fiber : {0, 250, 499}) {
      const Array2D<float> r = spectrograph.resolution(c, fiber);
      const std::size_t n = r.cols();
      const std::vector<double> sums = row_sums(banded(r));
      for (std::size_t i = 5; i + 5 < n; ++i) ASSERT_NEAR(sums[i], 1, 1e-6) << i;
      EXPECT_LT(sums[0], 0.9) << "light from beyond the grid is not there";
      double second = 0;  // variance of the middle row, bins^2
      const std::size_t row = n / 2;
      for (std::size_t k = 0; k < kDiagonals; ++k) {
        const double d = static_cast<double>(kDiagonals / 2) - static_cast<double>(k);
        second += d * d * static_cast<double>(r(k, row + kDiagonals / 2 - k));
      }
      // 1.12 pixels of 0.53 to 0.62 Angstrom, and a bin's own width
      const double sigma = std::sqrt(second - 1.0 / 12) * 0.8;
      EXPECT_GT(sigma, 0.52) << c << " " << fiber;
      EXPECT_LT(sigma, 0.78) << c << " " << fiber;
    }
  }
}

TEST(Spectrograph, LongerExposuresHaveMoreOfEverything) {
  const Spectrograph one(900), four(3600);
  const CameraModel &a = one.cameras()[1], &b = four.cameras()[1];
  EXPECT_NEAR(b.counts[100], 4 * a.counts[100], 1e-9);
  EXPECT_NEAR(b.sky[100], 4 * a.sky[100], 1e-6);
  EXPECT_EQ(b.read_variance, 4 * a.read_variance);
}

}  // namespace
}  // namespace fiberloom::truth
