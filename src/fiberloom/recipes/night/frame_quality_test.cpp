// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/frame_quality.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/error.hpp"

namespace fiberloom::night {
namespace {

/// Flux 10 with sigma 2, chi2 1.25; R is a Gaussian of 1.5 bins of 2 Angstrom.
ExtractResult result_of(std::size_t nspec, std::size_t nwave) {
  ExtractResult r;
  for (std::size_t j = 0; j < nwave; ++j) r.wave.push_back(5000 + 2.0 * static_cast<double>(j));
  r.flux = Array2D<double>(nspec, nwave, 10.0);
  r.ivar = Array2D<double>(nspec, nwave, 0.25);
  r.chi2pix = Array2D<double>(nspec, nwave, 1.25);
  r.mask = Array2D<std::uint32_t>(nspec, nwave, 0U);
  r.resolution = Array3D<float>(nspec, 11, nwave);
  for (std::size_t s = 0; s < nspec; ++s) {
    for (std::size_t k = 0; k < 11; ++k) {
      const double x = (static_cast<double>(k) - 5) / 1.5;
      for (std::size_t j = 0; j < nwave; ++j) {
        r.resolution(s, k, j) = static_cast<float>(std::exp(-0.5 * x * x));
      }
    }
  }
  return r;
}

TEST(FrameQuality, IsOfTheBinsWithInformation) {
  ExtractResult r = result_of(20, 100);
  for (std::size_t s = 0; s < 5; ++s) {
    for (std::size_t j = 0; j < 100; ++j) {
      r.ivar(s, j) = 0;
      r.flux(s, j) = 0;
      r.chi2pix(s, j) = 0;
      r.mask(s, j) = kAllBadPix;
    }
  }
  const FrameQuality q = measure_quality(r);
  EXPECT_DOUBLE_EQ(q.snr, 5);
  EXPECT_DOUBLE_EQ(q.chi2, 1.25);
  EXPECT_DOUBLE_EQ(q.flagged, 0.25);
  EXPECT_NEAR(q.resolution, 5100 / (2.3548 * 1.5 * 2), 8);
}

TEST(FrameQuality, OfAFrameWithoutInformationIsNumbersToo) {
  ExtractResult r = result_of(2, 30);
  r.ivar = Array2D<double>(2, 30, 0.0);
  const FrameQuality q = measure_quality(r);
  for (std::size_t m = 0; m < kMetrics; ++m) EXPECT_EQ(metric_value(q, m), 0) << metric_name(m);
  EXPECT_EQ(measure_quality(ExtractResult{}).snr, 0);
}

TEST(QualityLimits, AreSetByName) {
  QualityLimits limits;
  set_limit("chi2=2,4", limits);
  set_limit("snr=3,0.5", limits);
  EXPECT_EQ(limits.chi2.bad, 4);
  EXPECT_EQ(limits.snr.odd, 3);
  for (const char* text : {"", "chi2", "chi2=", "chi2=1", "chi2=1,", "chi2=1,2,3", "chi2=2,1",
                           "snr=1,2", "chi=1,2", "chi2=nan,nan"}) {
    EXPECT_THROW(set_limit(text, limits), Error) << text;
  }
}

/// `n` exposures of two cameras, alike but for small differences.
std::vector<RatedFrame> night_of(std::size_t n) {
  std::vector<RatedFrame> frames;
  for (std::size_t i = 0; i < n; ++i) {
    const double wobble = 1 + 0.01 * std::sin(static_cast<double>(i));
    frames.push_back({"b0", {4 * wobble, 1.0 * wobble, 0.01, 2000 * wobble}});
    frames.push_back({"r0", {9 * wobble, 1.1 * wobble, 0.01, 3500 * wobble}});
  }
  return frames;
}

TEST(RateFrames, AQuietNightIsGoodAndHasNoOutliers) {
  const Ratings ratings = rate_frames(night_of(20), {});
  EXPECT_TRUE(ratings.outliers.empty());
  for (const auto& verdicts : ratings.verdicts) {
    for (const Verdict v : verdicts) EXPECT_EQ(v, Verdict::kGood);
  }
}

TEST(RateFrames, EachNumberHasItsLimitsAndItsCamera) {
  auto frames = night_of(20);
  frames[6].quality.snr = 0.3;
  frames[8].quality.chi2 = 3.5;
  frames[10].quality.flagged = 0.06;
  frames[12].quality.resolution = 1700;  // of b0, whose median is 2000
  const Ratings ratings = rate_frames(frames, {});
  EXPECT_EQ(ratings.verdicts[6][0], Verdict::kOdd);
  EXPECT_EQ(ratings.verdicts[8][1], Verdict::kBad);
  EXPECT_EQ(ratings.verdicts[10][2], Verdict::kOdd);
  EXPECT_EQ(ratings.verdicts[12][3], Verdict::kOdd);
  ASSERT_EQ(ratings.outliers.size(), 4U);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_GE(ratings.outliers[i - 1].sigmas, ratings.outliers[i].sigmas);
  }
  for (const Outlier& o : ratings.outliers) EXPECT_GT(o.sigmas, 5);
}

TEST(RateFrames, AFewFramesSayNothingOfWhatIsUsual) {
  auto frames = night_of(2);
  frames[0].quality.resolution = 10;
  const Ratings ratings = rate_frames(frames, {});
  EXPECT_EQ(ratings.verdicts[0][3], Verdict::kGood);
  EXPECT_TRUE(ratings.outliers.empty());
}

}  // namespace
}  // namespace fiberloom::night
