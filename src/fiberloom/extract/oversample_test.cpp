// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/oversample.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fiberloom {
namespace {

TEST(FinerGrid, CutsEachBinIntoEqualParts) {
  const std::vector<double> fine = finer_grid({6000, 6001, 6002}, 2);
  EXPECT_EQ(fine, (std::vector<double>{5999.75, 6000.25, 6000.75, 6001.25, 6001.75, 6002.25}));
  EXPECT_EQ(finer_grid({6000, 6002}, 1), (std::vector<double>{6000, 6002}));
}

/// Two fine bins each of three; R of five diagonals whose entry tells row and column.
ExtractResult fine_result() {
  ExtractResult fine;
  fine.wave = finer_grid({6000, 6001, 6002}, 2);
  for (auto* a : {&fine.flux, &fine.ivar, &fine.xflux, &fine.chi2pix, &fine.pixmask_fraction})
    *a = Array2D<double>(1, 6, 0.0);
  for (std::size_t j = 0; j < 6; ++j) {
    fine.flux(0, j) = static_cast<double>(j);
    fine.ivar(0, j) = j < 4 ? 1.0 + static_cast<double>(j % 2) : 0.0;
  }
  fine.resolution = Array3D<float>(1, 9, 6, 0.0F);
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t column = 0; column < 6; ++column) {
      const std::size_t d = row + 4 - column;
      if (d < 9) fine.resolution(0, d, column) = static_cast<float>(10 * row + column);
    }
  }
  fine.bundles.resize(1);
  return fine;
}

TEST(CoarserResult, IsTheMeanOfLeastVarianceAndItsMatrix) {
  ExtractOptions options;
  options.wave = {6000, 6001, 6002};
  options.ndiag = 3;
  options.oversample = 2;
  EXPECT_EQ(finer_options(options).ndiag, 9);
  const ExtractResult out = coarser_result(fine_result(), options);
  EXPECT_DOUBLE_EQ(out.ivar(0, 1), 3);
  EXPECT_DOUBLE_EQ(out.flux(0, 1), (1 * 2 + 2 * 3) / 3.0);
  // row 1 (fine rows 2 and 3, weights 1 and 2), fine column 4, which lies in bin 2
  EXPECT_FLOAT_EQ(out.fine_resolution(0, 0, 4), (24.0F + 2 * 34.0F) / 3);
  EXPECT_FLOAT_EQ(out.resolution(0, 0, 2),
                  out.fine_resolution(0, 0, 4) + out.fine_resolution(0, 0, 5));
}

TEST(CoarserResult, ABinWithoutInformationHasTheIdentitysRow) {
  ExtractOptions options;
  options.wave = {6000, 6001, 6002};
  options.ndiag = 3;
  options.oversample = 2;
  const ExtractResult out = coarser_result(fine_result(), options);
  EXPECT_EQ(out.ivar(0, 2), 0);
  EXPECT_EQ(out.flux(0, 2), 0);
  EXPECT_EQ(out.resolution(0, 1, 2), 1);  // R[2, 2]
  EXPECT_EQ(out.resolution(0, 2, 1), 0);  // R[2, 1]
  EXPECT_NE(out.mask(0, 2) & kAllBadPix, 0U);
}

}  // namespace
}  // namespace fiberloom
