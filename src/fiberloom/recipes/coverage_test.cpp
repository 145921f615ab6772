// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/coverage.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

/// Two fibres with y = 5 + (wave - 5000) and 10 pixels more; a CCD of 100 rows.
PsfModel straight_psf() {
  PsfModel psf;
  psf.npix_x = 60;
  psf.npix_y = 100;
  for (LegendreSeries* s : {&psf.x, &psf.y, &psf.sigma_x, &psf.sigma_y}) {
    s->wave_min = 4980;
    s->wave_max = 5120;
    s->coef = Array2D<double>(2, 2, 0.0);
  }
  for (std::size_t f = 0; f < 2; ++f) {
    psf.x.coef(f, 0) = 20;
    psf.y.coef(f, 0) = 5 + 50 + (f == 1 ? 10 : 0);  // at the middle, 5050 A
    psf.y.coef(f, 1) = 70;
  }
  return psf;
}

std::vector<double> grid(double first, double last) { return linear_wave_grid(first, last, 1.0); }

TEST(GridCoverage, OfAGridWithinTheCcdIsWhole) {
  const PsfModel psf = straight_psf();
  const auto wave = grid(5000, 5080);
  const Coverage c = grid_coverage(psf, 0, 2, wave);
  EXPECT_EQ(c.without_ccd, 0U);
  EXPECT_EQ(coverage_text(c, psf, wave), "");
}

TEST(GridCoverage, CountsTheBinsWhoseSpotsTouchNoRow) {
  // spots are 11 rows: fibre 0 touches the CCD while -5 <= y <= 104, that is 4990 to 5099 A,
  // fibre 1 from 4980 to 5089
  const PsfModel psf = straight_psf();
  const auto wave = grid(4985, 5105);
  const Coverage c = grid_coverage(psf, 0, 2, wave);
  EXPECT_EQ(c.without_ccd, 5U + 6U + 16U);
  EXPECT_EQ(c.first_aa, 4990);
  EXPECT_EQ(c.last_aa, 5089);
  EXPECT_EQ(grid_coverage(psf, 1, 1, wave).without_ccd, 16U);
  const std::string text = coverage_text(c, psf, wave);
  EXPECT_NE(text.find("from 4990.00 to 5089.00; 27 of 242 bins (11.16 %)"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("extrapolated"), std::string::npos);
}

TEST(GridCoverage, SaysThatThePsfIsExtrapolated) {
  const PsfModel psf = straight_psf();
  const auto wave = grid(4975, 5060);
  const std::string text = coverage_text(grid_coverage(psf, 1, 1, wave), psf, wave);
  EXPECT_NE(text.find("leaves the PSF's range 4980.00-5120.00"), std::string::npos) << text;
}

TEST(GridCoverage, OfAGridBesideTheCcdHasNoCommonRange) {
  const PsfModel psf = straight_psf();
  const auto wave = grid(5105, 5120);
  const Coverage c = grid_coverage(psf, 0, 2, wave);
  EXPECT_EQ(c.without_ccd, c.bins);
  EXPECT_NE(coverage_text(c, psf, wave).find("no wavelength"), std::string::npos);
}

TEST(Validate, RefusesAGridFarOutsideThePsfsRange) {
  const PsfModel psf = straight_psf();
  CcdFrame ccd{PixelArray(Array2D<float>(100, 60, 0.0F)),
               PixelArray(Array2D<float>(100, 60, 1.0F))};
  ExtractOptions options;
  for (const auto& [first, last, good] :
       {std::tuple{4973.0, 5127.0, true}, std::tuple{4972.0, 5100.0, false},
        std::tuple{5000.0, 5128.0, false}, std::tuple{6000.0, 6100.0, false}}) {
    options.wave = grid(first, last);
    if (good) {
      EXPECT_NO_THROW(validate(ccd, psf, options));
      continue;
    }
    try {
      validate(ccd, psf, options);
      ADD_FAILURE() << first << " to " << last << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), kNotCovered);
    }
  }
}

TEST(Validate, TheRangeOfTheToleranceIsOne) {
  ExtractOptions options;
  for (const double good : {kToleranceRange.low, 1e-4, kToleranceRange.high}) {
    options.tolerance = good;
    EXPECT_NO_THROW(validate(options)) << good;
  }
  for (const double bad : {0.5 * kToleranceRange.low, 2 * kToleranceRange.high, 0.0, -1.0,
                           std::numeric_limits<double>::quiet_NaN()}) {
    options.tolerance = bad;
    EXPECT_THROW(validate(options), Error) << bad;
  }
}

}  // namespace
}  // namespace fiberloom
