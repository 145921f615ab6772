// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/compare_truth.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom {
namespace {

TEST(BinTruth, AveragesFineSamplesOverTheirOverlap) {
  TruthFile truth;
  truth.wave = {1.25, 1.75, 2.25, 2.75, 3.25, 3.75};  // half-Angstrom samples from 1 to 4
  truth.flux = Array2D<double>(1, 6);
  for (std::size_t k = 0; k < 6; ++k) truth.flux(0, k) = static_cast<double>(k);
  const Array2D<double> binned = bin_truth(truth, {1.5, 2.5, 3.5});
  EXPECT_DOUBLE_EQ(binned(0, 0), 0.5);
  EXPECT_DOUBLE_EQ(binned(0, 1), 2.5);
  EXPECT_DOUBLE_EQ(binned(0, 2), 4.5);
}

TEST(BinTruth, IsTheTruthWhereTheGridsAreTheSame) {
  TruthFile truth;
  truth.wave = {5000, 5000.8, 5001.6};
  truth.flux = Array2D<double>(2, 3, 4.0);
  truth.flux(1, 2) = 9;
  const Array2D<double> binned = bin_truth(truth, truth.wave);
  EXPECT_NEAR(binned(1, 2), 9, 1e-9);
  EXPECT_NEAR(binned(0, 0), 4, 1e-9);
}

TEST(BinTruth, IsNotANumberOutsideTheTruth) {
  TruthFile truth;
  truth.wave = {1.5, 2.5};
  truth.flux = Array2D<double>(1, 2, 1.0);
  const Array2D<double> binned = bin_truth(truth, {0.5, 1.5, 2.5, 3.5});
  EXPECT_TRUE(std::isnan(binned(0, 0)));
  EXPECT_FALSE(std::isnan(binned(0, 1)));
  EXPECT_TRUE(std::isnan(binned(0, 3)));
}

/// Ten fibres, R that mixes neighbours, flux = R truth + sigma noise.
struct Simulated {
  FrameFile frame;
  TruthFile truth;
};

Simulated simulate(double noise) {
  constexpr std::size_t nspec = 10, nwave = 2000;
  Simulated s;
  const CounterRng rng(3, 0);
  s.frame.flux = Array2D<double>(nspec, nwave);
  s.frame.ivar = Array2D<double>(nspec, nwave, 0.25);
  s.frame.resolution = Array3D<float>(nspec, 3, nwave, 0.25F);
  s.truth.flux = Array2D<double>(nspec, nwave);
  for (std::size_t j = 0; j < nwave; ++j) s.frame.wave.push_back(5000 + static_cast<double>(j));
  s.truth.wave = s.frame.wave;
  for (std::size_t f = 0; f < nspec; ++f) {
    for (std::size_t j = 0; j < nwave; ++j) {
      s.frame.resolution(f, 1, j) = 0.5F;
      s.truth.flux(f, j) = static_cast<double>(f + 1) * (j % 7 == 0 ? 30 : 1);
    }
    for (std::size_t j = 0; j < nwave; ++j) {
      const double left = j > 0 ? s.truth.flux(f, j - 1) : 0;
      const double right = j + 1 < nwave ? s.truth.flux(f, j + 1) : 0;
      s.frame.flux(f, j) = 0.25 * left + 0.5 * s.truth.flux(f, j) + 0.25 * right +
                           2 * noise * rng.normal(f * nwave + j);
    }
  }
  return s;
}

TEST(CompareTruth, RefusesFibresWithGridsOfTheirOwn) {
  Simulated s = simulate(0);
  s.frame.fiber_wave = Array2D<double>(s.frame.flux.rows(), s.frame.wave.size(), 5000.0);
  try {
    (void)expected_flux(s.frame, s.truth);
    FAIL() << "the mean grid is none of theirs";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::kUnsupported);
  }
}

TEST(CompareTruth, AppliesTheResolutionOfTheFrame) {
  const Simulated s = simulate(0);
  const TruthComparison c = compare_truth(s.frame, s.truth, {}, 5);
  EXPECT_EQ(c.nspec, 10U);
  EXPECT_EQ(c.masked, 0U);
  EXPECT_NEAR(c.all.pulls.width(), 0, 1e-9);
  EXPECT_EQ(c.by_bundle.size(), 2U);
  EXPECT_EQ(c.by_bundle[1].name, "fibres 5-9");
}

TEST(CompareTruth, PullsOfHonestNoiseHaveUnitWidth) {
  const Simulated s = simulate(1);
  const TruthComparison c = compare_truth(s.frame, s.truth, {}, 5);
  EXPECT_NEAR(c.all.pulls.mean(), 0, 5 / std::sqrt(20000.0));
  EXPECT_NEAR(c.all.pulls.width(), 1, 5 / std::sqrt(40000.0));
  std::size_t bins = 0;
  for (const auto& row : c.by_brightness) bins += row.pulls.count();
  EXPECT_EQ(bins, c.all.pulls.count());
}

TEST(CompareTruth, LeavesMaskedBinsOut) {
  Simulated s = simulate(0);
  s.frame.ivar(0, 3) = 0;
  s.frame.mask = Array2D<std::uint32_t>(10, 2000, 0U);
  s.frame.mask(4, 5) = kSomeBadPix;
  const TruthComparison c = compare_truth(s.frame, s.truth, {}, 25);
  EXPECT_EQ(c.masked, 2U);
  EXPECT_EQ(c.all.pulls.count(), 10U * 2000U - 2U);
}

TEST(CompareTruth, NeedsAResolution) {
  Simulated s = simulate(0);
  s.frame.resolution = {};
  EXPECT_THROW((void)compare_truth(s.frame, s.truth, {}, 25), Error);
}

TEST(WidthHint, SpeaksOfLightOffTheCentresOnlyWhereTheTruthIsFine) {
  const auto hint = [](double noise, bool fine) {
    Simulated s = simulate(noise);
    TruthComparison c = compare_truth(s.frame, s.truth, {}, 25);
    c.fine_truth = fine;
    return width_hint(c);
  };

  EXPECT_EQ(hint(1, true), "");
  EXPECT_EQ(hint(3, false), "");
  EXPECT_NE(hint(3, true).find("--truth-grid extraction"), std::string::npos);
}

TEST(CompareTruth, KnowsATruthWithSmallerBins) {
  Simulated s = simulate(1);
  EXPECT_FALSE(compare_truth(s.frame, s.truth, {}, 25).fine_truth);

  TruthFile fine = s.truth;
  fine.wave.clear();
  for (std::size_t j = 0; j < s.truth.flux.cols(); ++j) {
    fine.wave.push_back(5000 + 0.5 * static_cast<double>(j));
  }

  EXPECT_TRUE(compare_truth(s.frame, fine, {}, 25).fine_truth);
}

}  // namespace
}  // namespace fiberloom
