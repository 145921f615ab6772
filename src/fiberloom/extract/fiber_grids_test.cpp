// SPDX-License-Identifier: BSD-3-Clause
// Grids of any kind: what is refused, and that flux = R truth per Angstrom where bins widen.
#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

TEST(Log10Grid, HasEqualStepsFromItsFirstWavelengthOn) {
  const std::vector<double> wave = log10_wave_grid(5000, 5100, 1e-3);
  ASSERT_EQ(wave.size(), 10U);  // the last one within half a step of 5100
  EXPECT_DOUBLE_EQ(wave[0], 5000);
  for (std::size_t j = 1; j < wave.size(); ++j)
    EXPECT_NEAR(std::log10(wave[j] / wave[j - 1]), 1e-3, 1e-12);
  EXPECT_THROW((void)log10_wave_grid(0, 5100, 1e-3), Error);
  EXPECT_THROW((void)log10_wave_grid(5000, 5100, 0), Error);
  EXPECT_THROW((void)log10_wave_grid(5000, 5100, 1e-12), Error);
}

TEST(ConvertResolution, IsThatOfSpectraPerAngstrom) {
  ExtractOptions options;
  options.wave = {5000, 5001, 5003, 5007};
  const std::vector<double> width = bin_widths(options.wave);
  ExtractResult result;
  result.flux = Array2D<double>(1, 4, 0.0);
  result.resolution = Array3D<float>(1, 3, 4, 0.25F);
  convert_resolution(options, result);
  EXPECT_FLOAT_EQ(result.resolution(0, 1, 2), 0.25F);
  EXPECT_FLOAT_EQ(result.resolution(0, 0, 2),  // R[1, 2]
                  static_cast<float>(0.25 * width[2] / width[1]));
  EXPECT_FLOAT_EQ(result.resolution(0, 2, 2), static_cast<float>(0.25 * width[2] / width[3]));
}

TEST(ConvertResolution, KeepsEveryBitOfEqualBins) {
  ExtractOptions options;
  options.wave = linear_wave_grid(5000, 5010, 0.7);
  ExtractResult result;
  result.flux = Array2D<double>(2, options.wave.size(), 0.0);
  result.resolution = Array3D<float>(2, 3, options.wave.size(), 1.0F / 3);
  convert_resolution(options, result);
  for (std::size_t i = 0; i < result.resolution.size(); ++i)
    EXPECT_EQ(result.resolution.data()[i], 1.0F / 3);
}

}  // namespace
}  // namespace fiberloom
