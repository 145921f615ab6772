// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/gaussian_resolution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

std::vector<double> uneven(std::size_t n) {
  std::vector<double> wave;
  for (std::size_t i = 0; i < n; ++i) wave.push_back(4000 * std::pow(10, 1e-4 * double(i)));
  return wave;
}

TEST(GaussianResolution, KeepsLightAndIsAsWideAsAsked) {
  const std::vector<double> wave = uneven(200);
  const Array2D<double> sigma(2, wave.size(), 1.7);
  const Array3D<float> r = gaussian_resolution(wave, sigma);
  const std::size_t half = r.rows() / 2;
  for (const std::size_t j : {40U, 100U, 150U}) {
    const double width_j = 0.5 * (wave[j + 1] - wave[j - 1]);
    double light = 0, second = 0;
    for (std::size_t k = 0; k < r.rows(); ++k) {
      const std::size_t i = j + k - half;
      const double part = r(1, k, j) * 0.5 * (wave[i + 1] - wave[i - 1]);
      light += part;
      second += part * (wave[i] - wave[j]) * (wave[i] - wave[j]);
    }
    EXPECT_NEAR(light / width_j, 1, 1e-6);
    EXPECT_NEAR(std::sqrt(second / light), 1.7, 2e-3);
  }
}

TEST(GaussianResolution, RowsOfASmoothSpectrumAreItself) {
  const std::vector<double> wave = uneven(100);
  const Array3D<float> r = gaussian_resolution(wave, Array2D<double>(1, wave.size(), 1.2));
  const std::size_t half = r.rows() / 2;
  for (std::size_t i = half; i + half < wave.size(); ++i) {
    double sum = 0;  // R_ij, i = j - half + k
    for (std::size_t k = 0; k < r.rows(); ++k) sum += r(0, k, i + half - k);
    EXPECT_NEAR(sum, 1, 1e-3);
  }
}

TEST(GaussianResolution, ABinWithoutAWidthStaysWhereItIs) {
  const std::vector<double> wave{4000, 4001, 4002, 4003};
  Array2D<double> sigma(1, 4, 0.6);
  sigma(0, 1) = std::nan("");
  sigma(0, 2) = -1;
  const Array3D<float> r = gaussian_resolution(wave, sigma);
  const std::size_t half = r.rows() / 2;
  for (const std::size_t j : {1U, 2U}) {
    for (std::size_t k = 0; k < r.rows(); ++k) EXPECT_EQ(r(0, k, j), k == half ? 1.0F : 0.0F);
  }
}

TEST(GaussianResolution, RefusesAWidthOfManyBins) {
  const std::vector<double> wave{4000, 4001, 4002};
  for (const double sigma : {14.0, 1e300}) {
    EXPECT_THROW((void)gaussian_resolution(wave, Array2D<double>(1, 3, sigma)), loom::Error);
  }
}

}  // namespace
}  // namespace fiberloom
