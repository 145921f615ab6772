// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/resolution_leak.hpp"

#include <gtest/gtest.h>

namespace fiberloom {
namespace {

/// Rows 0.01, 0.04, 0.1, 0.7, 0.1, 0.04, 0.01 of one spectrum.
Spectra sample(std::size_t nwave = 40) {
  Spectra s;
  s.ivar = Array2D<double>(1, nwave, 1.0);
  s.resolution = Array3D<float>(1, 7, nwave, 0.0F);
  const float wing[] = {0.01F, 0.04F, 0.1F, 0.7F, 0.1F, 0.04F, 0.01F};
  for (std::size_t k = 0; k < 7; ++k) {
    for (std::size_t j = 0; j < nwave; ++j) s.resolution(0, k, j) = wing[k];
  }
  return s;
}

TEST(ResolutionLeak, IsWhatTheStoredRowsLack) {
  EXPECT_NEAR(leak_of(sample()).rows.most, 0, 1e-7);
  EXPECT_NEAR(leak_of(sample(), 5).rows.median, 0.02, 1e-7);
  EXPECT_NEAR(leak_of(sample(), 3).columns.most, 0.10, 1e-7);
  EXPECT_EQ(leak_of(sample(), 3).bins, 38U);
}

TEST(ResolutionLeak, BinsWithoutInformationDoNotCount) {
  Spectra s = sample();
  s.ivar(0, 20) = 0;
  for (std::size_t k = 0; k < 7; ++k) s.resolution(0, k, 20 + 3 - k) = k == 3 ? 1.0F : 0.0F;
  EXPECT_EQ(leak_of(s).bins, 33U);
  EXPECT_NEAR(leak_of(s).rows.most, 0, 1e-7);
}

TEST(ResolutionLeak, TheFewestDiagonalsThatHoldTheBound) {
  Spectra s = sample();
  EXPECT_EQ(diagonals_for(s, 0.11), 3);
  EXPECT_EQ(diagonals_for(s, 0.05), 5);
  EXPECT_EQ(diagonals_for(s, 0.001), 7);
  EXPECT_EQ(diagonals_for(s, 0), 7);  // nothing does: all
  keep_diagonals(s.resolution, 5);
  EXPECT_EQ(s.resolution.rows(), 5U);
  EXPECT_EQ(s.resolution(0, 0, 7), 0.04F);
  keep_diagonals(s.resolution, 9);
  EXPECT_EQ(s.resolution.rows(), 5U);
}

}  // namespace
}  // namespace fiberloom
