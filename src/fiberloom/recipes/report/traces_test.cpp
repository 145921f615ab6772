// SPDX-License-Identifier: BSD-3-Clause
// Sums along straight traces whose answer is known; pixels that cannot be right.
#include "fiberloom/recipes/report/traces.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/recipes/report/wild_pixels.hpp"

namespace fiberloom::report {
namespace {

/// Two vertical traces at columns 10 and 20, a row an Angstrom: row = wave - 5000.
PsfModel straight() {
  PsfModel psf;
  const auto series = [](double a0, double a1, double step) {
    LegendreSeries s{5000, 5100, Array2D<double>(2, 2)};
    for (std::size_t f = 0; f < 2; ++f) {
      s.coef(f, 0) = a0 + step * static_cast<double>(f);
      s.coef(f, 1) = a1;
    }
    return s;
  };
  psf.npix_x = 30;
  psf.npix_y = 100;
  psf.x = series(10, 0, 10);
  psf.y = series(50, 50, 0);
  psf.sigma_x = series(1.2, 0, 0);
  return psf;
}

TEST(SampleTraces, FollowThePsf) {
  const Traces t = sample_traces(straight(), 1, 1, 5010, 5090, 5);
  EXPECT_EQ(t.x.rows(), 1u);
  EXPECT_FLOAT_EQ(t.x(0, 4), 20.0F);
  EXPECT_FLOAT_EQ(t.y(0, 0), 10.0F);
  EXPECT_FLOAT_EQ(t.y(0, 4), 90.0F);
}

TEST(ResidualAlongTraces, IsTheBinsSumInItsOwnSigma) {
  Array2D<float> residual(100, 30, 0.0F), model(100, 30, 1.0F), ivar(100, 30, 4.0F);
  for (std::size_t c = 7; c <= 13; ++c) residual(40, c) = 0.5F;  // 7 columns of fibre 0
  model(60, 10) = 0;
  residual(60, 10) = 1e6F;  // not lit
  ivar(61, 10) = 0;
  residual(61, 10) = 1e6F;  // not used
  std::vector<double> wave;
  for (int j = 20; j < 80; ++j) wave.push_back(5000.5 + j);  // bin j spans row j to j + 1

  const auto pulls = residual_along_traces(straight(), 0, 2, wave, residual, model, ivar);

  EXPECT_NEAR(pulls(0, 20), 7 * 0.5 / std::sqrt(7 / 4.0), 1e-5);
  EXPECT_EQ(pulls(0, 21), 0.0F);
  EXPECT_EQ(pulls(0, 40), 0.0F);
  EXPECT_EQ(pulls(0, 41), 0.0F);
  EXPECT_EQ(pulls(1, 20), 0.0F) << "the other fibre";
}

TEST(ResidualAlongTraces, IsUnknownOffTheCcd) {
  const Array2D<float> residual(100, 30, 0.0F), model(100, 30, 1.0F), ivar(100, 30, 4.0F);
  const auto pulls =
      residual_along_traces(straight(), 0, 1, {5050, 5300, 1e300}, residual, model, ivar);
  EXPECT_TRUE(std::isnan(pulls(0, 1)));
  EXPECT_TRUE(std::isnan(pulls(0, 2)));
}

TEST(EffectivePixels, AreTheWidthOfTheTraceTimesTheRowsOfABin) {
  std::vector<double> wave;
  for (int j = 0; j < 50; ++j) wave.push_back(5020 + 0.8 * j);
  EXPECT_NEAR(effective_pixels(straight(), 0, 2, wave), 2 * std::sqrt(M_PI) * 1.2 * 0.8, 1e-9);
}

TEST(WildPixels, TellCosmicRaysAndWeightsFromLinesThatThePsfMisses) {
  Array2D<float> residual(40, 40, 0.5F), model(40, 40, 10.0F), ivar(40, 40, 0.1F);
  residual(13, 4) = 500;  // a cosmic ray
  residual(3, 4) = 500;   // light of bins before the first
  model(15, 5) = 1e6F;
  residual(15, 6) = 40000;  // the flank of a bright line: 4 % of its peak
  residual(17, 7) = -900;   // a dark pixel is no cosmic ray
  ivar(9, 9) = 1e14F;
  model(20, 20) = 0;
  residual(20, 20) = 1e9F;

  const WildPixels w = wild_pixels(residual, model, ivar);

  EXPECT_EQ(w.lit, 1599u);
  EXPECT_EQ(w.wild, 1u);
  EXPECT_EQ(w.worst.front().row, 13u);
  EXPECT_EQ(w.worst.front().col, 4u);
  EXPECT_EQ(w.heavy, 1u);
  EXPECT_EQ(w.heaviest.front().col, 9u);
}

}  // namespace
}  // namespace fiberloom::report
