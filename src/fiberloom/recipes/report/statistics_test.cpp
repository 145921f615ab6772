// SPDX-License-Identifier: BSD-3-Clause
// The figures of a report on frames whose answer is known.
#include "fiberloom/recipes/report/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fiberloom::report {
namespace {

FrameFile flat(std::size_t nspec, std::size_t nwave) {
  FrameFile frame;
  frame.flux = Array2D<double>(nspec, nwave, 10.0);
  frame.ivar = Array2D<double>(nspec, nwave, 4.0);
  frame.mask = Array2D<std::uint32_t>(nspec, nwave, 0);
  for (std::size_t j = 0; j < nwave; ++j) frame.wave.push_back(5000 + 0.8 * static_cast<double>(j));
  return frame;
}

std::vector<double> gaussian(double sigma, double shift, int half) {
  std::vector<double> row;
  for (int k = -half; k <= half; ++k) {
    row.push_back(0.4 * std::exp(-0.5 * std::pow((k - shift) / sigma, 2)));
  }
  return row;
}

TEST(FitSigma, FindsTheWidthOfAShiftedGaussian) {
  for (const double sigma : {0.5, 0.8, 1.0, 1.7}) {
    for (const double shift : {-0.3, 0.0, 0.2}) {
      EXPECT_NEAR(fit_sigma(gaussian(sigma, shift, 5)), sigma, 1e-4 * sigma) << shift;
    }
  }
}

TEST(FitSigma, RefusesARowThatIsNoPeak) {
  EXPECT_TRUE(std::isnan(fit_sigma({0, 0, 0, 0, 0})));
  EXPECT_TRUE(std::isnan(fit_sigma({0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0})));  // identity row
  EXPECT_TRUE(std::isnan(fit_sigma({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})));
}

TEST(ResolutionSigma, ReadsRowsOfRAndNotColumns) {
  FrameFile frame = flat(1, 60);
  constexpr int kHalf = 5;
  frame.resolution = Array3D<float>(1, 2 * kHalf + 1, 60, 0.0F);
  for (int i = 0; i < 60; ++i) {  // row i has width 0.7 + i / 100, shifted
    const auto row = gaussian(0.7 + 0.01 * i, 0.2, kHalf);
    for (int q = 0; q <= 2 * kHalf; ++q) {
      const int j = i - kHalf + q;
      if (j < 0 || j >= 60) continue;
      frame.resolution(0, static_cast<std::size_t>(i - j + kHalf), static_cast<std::size_t>(j)) =
          static_cast<float>(row[static_cast<std::size_t>(q)]);
    }
  }
  frame.ivar(0, 30) = 0;

  const Array2D<float> sigma = resolution_sigma(frame, bin_flags(frame), 1);

  EXPECT_NEAR(sigma(0, 20), 0.9, 1e-4);
  EXPECT_NEAR(sigma(0, 50), 1.2, 1e-4);
  EXPECT_TRUE(std::isnan(sigma(0, 30)));  // no information
  EXPECT_TRUE(std::isnan(sigma(0, 2)));   // the row is cut off by the end of the grid
  EXPECT_EQ(resolution_sigma(frame, bin_flags(frame), 7).cols(), 9u);
}

TEST(BinFlags, TellsTheReasonsApart) {
  FrameFile frame = flat(1, 7);
  frame.mask(0, 0) = kSomeBadPix;
  frame.mask(0, 1) = kAllBadPix;
  frame.mask(0, 2) = kBad2dFit;
  frame.mask(0, 3) = 1U << 20;
  frame.ivar(0, 4) = 0;
  frame.flux(0, 5) = NAN;

  const auto flags = bin_flags(frame);

  const int expected[] = {
      kFlagSomeBad, kFlagAllBad, kFlagBadFit, kFlagOther, kFlagNoIvar, kFlagNoIvar, 0};
  for (std::size_t j = 0; j < 7; ++j) EXPECT_EQ(flags(0, j), expected[j]) << j;
}

TEST(Histogram, HasTheQuantilesOfAGaussian) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> gauss(0.1, 1.0);
  Histogram histogram(-6, 6, 240);
  for (int i = 0; i < 200000; ++i) histogram.add(gauss(random));
  EXPECT_EQ(histogram.size(), 200000u);
  EXPECT_NEAR(histogram.quantile(0.5), 0.1, 0.01);
  EXPECT_NEAR(histogram.core_width(), 1.0, 0.01);
}

TEST(Histogram, CountsWhatLiesOutside) {
  Histogram histogram(0, 1, 4);
  for (const double v : {-1.0, 0.0, 0.99, 1.0, 5.0, static_cast<double>(NAN)}) histogram.add(v);
  EXPECT_EQ(histogram.below(), 2u);  // NaN too
  EXPECT_EQ(histogram.above(), 2u);
  EXPECT_EQ(histogram.counts().front(), 1u);
  EXPECT_EQ(histogram.counts().back(), 1u);
}

TEST(NeighbourPulls, HaveWidthOneForNoiseOfTheRightSize) {
  FrameFile frame = flat(40, 2000);
  std::mt19937_64 random(2);
  std::normal_distribution<double> gauss(0.0, 0.5);  // ivar is 4
  for (std::size_t i = 0; i < frame.flux.size(); ++i) {
    frame.flux.data()[i] += gauss(random);
    if (i % 50 < 5) frame.flux.data()[i] += 1000;  // lines, with the noise of lines
    if (i % 50 < 5) frame.ivar.data()[i] = 0.01;
  }
  const Histogram pulls = neighbour_pulls(frame, bin_flags(frame));
  EXPECT_GT(pulls.size(), 60000u);
  EXPECT_NEAR(pulls.core_width(), 1.0, 0.02);
  EXPECT_EQ(pulls.below() + pulls.above(), 0u) << "lines are left out";
}

TEST(NeighbourPulls, TakeBinsWhoseIvarIsAllTheSame) {
  FrameFile frame = flat(2, 50);
  for (std::size_t i = 0; i < frame.ivar.size(); ++i) frame.ivar.data()[i] = 1 / 39.0;
  EXPECT_EQ(neighbour_pulls(frame, bin_flags(frame)).size(), 96u);
}

TEST(PixelPulls, LookAtLitAndUsedPixelsOnly) {
  Array2D<float> residual(1, 4, 3.0F), model(1, 4, 1.0F), ivar(1, 4, 0.25F);
  model(0, 0) = 0;
  ivar(0, 1) = 0;
  const Histogram pulls = pixel_pulls(residual, model, ivar);
  EXPECT_EQ(pulls.size(), 2u);
  EXPECT_NEAR(pulls.quantile(0.5), 1.5, 0.05);
}

TEST(TruthPulls, LeaveOutWhatTheTruthDoesNotCover) {
  FrameFile frame = flat(1, 3);
  Array2D<double> expected(1, 3, 9.0);
  expected(0, 2) = NAN;
  const Histogram pulls = truth_pulls(frame, bin_flags(frame), expected);
  EXPECT_EQ(pulls.size(), 2u);
  EXPECT_NEAR(pulls.quantile(0.5), 2.0, 0.05);  // (10 - 9) sqrt(4)
}

TEST(BundleStatistics, CountsEachBundleAlone) {
  FrameFile frame = flat(5, 10);
  frame.chi2pix = Array2D<double>(5, 10, 1.5);
  frame.mask(3, 0) = kSomeBadPix | kBad2dFit;
  frame.ivar(3, 1) = 0;

  const auto bundles = bundle_statistics(frame, bin_flags(frame), 2, 3);  // fibres 2 | 3 4 5 | 6

  ASSERT_EQ(bundles.size(), 3u);
  EXPECT_EQ(bundles[0].rows, 1u);
  EXPECT_EQ(bundles[1].first_row, 1u);
  EXPECT_EQ(bundles[1].rows, 3u);
  EXPECT_EQ(bundles[1].some_bad, 1u);
  EXPECT_EQ(bundles[1].bad_fit, 1u);
  EXPECT_EQ(bundles[1].no_ivar, 1u);
  EXPECT_EQ(bundles[0].some_bad + bundles[2].some_bad, 0u);
  EXPECT_DOUBLE_EQ(bundles[1].median_snr, 20.0);
  EXPECT_DOUBLE_EQ(bundles[2].median_chi2, 1.5);
}

TEST(BadRuns, ComeLongestFirst) {
  Array2D<std::uint8_t> flags(2, 10, 0);
  flags(0, 0) = kFlagSomeBad;
  for (const std::size_t j : {4, 5, 6}) flags(1, j) = kFlagAllBad;
  flags(1, 7) = kFlagSomeBad;  // another reason: another run

  const auto runs = bad_runs(flags);

  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].row, 1u);
  EXPECT_EQ(runs[0].first, 4u);
  EXPECT_EQ(runs[0].bins(), 3u);
  EXPECT_EQ(runs[1].row, 0u);
  EXPECT_EQ(runs[2].first, 7u);
}

}  // namespace
}  // namespace fiberloom::report
