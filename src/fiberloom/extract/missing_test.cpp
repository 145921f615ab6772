// SPDX-License-Identifier: BSD-3-Clause
// Results made up bin by bin: what is blanked, and what is said of it. That an extraction ends so
// is tested in tests/fiberloom/property/containment_test.cpp.
#include "fiberloom/extract/missing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/test_psf.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kFibers = 3, kBins = 12;

struct Made {
  PsfModel psf = test::make_psf();
  ExtractOptions options;
  ExtractResult result;
  std::vector<std::string> warnings;

  Made() {
    options.wave = test::make_grid(kBins);
    options.ndiag = 5;
    result = exact::empty_result(psf, options);
    for (auto* a : {&result.flux, &result.ivar, &result.xflux, &result.chi2pix})
      std::fill_n(a->data(), a->size(), 2.0);
    std::fill_n(result.pixmask_fraction.data(), result.pixmask_fraction.size(), 0.0);
    std::fill_n(result.resolution.data(), result.resolution.size(), 0.2F);
    result.bundles.resize(1);
    result.bundles[0].nfiber = kFibers;
  }
  void settle() {
    Observer observer;
    observer.message = [this](LogLevel level, const std::string& text) {
      EXPECT_EQ(level, LogLevel::kWarning);
      warnings.push_back(text);
    };
    settle_missing(psf, options, observer, result);
  }
  void lose(std::size_t s, std::size_t j, double lost_light) {
    result.ivar(s, j) = 0;
    result.pixmask_fraction(s, j) = lost_light;
  }
  void lose_fiber(std::size_t s, double lost_light) {
    for (std::size_t j = 0; j < kBins; ++j) lose(s, j, lost_light);
  }
};

TEST(BlankFiber, LeavesAnIdentityAndTouchesNoOther) {
  Made m;
  m.result.pixmask_fraction(1, 3) = 0.4;
  blank_fiber(m.result, 1);
  for (std::size_t s = 0; s < kFibers; ++s) {
    for (std::size_t j = 0; j < kBins; ++j) {
      EXPECT_EQ(m.result.flux(s, j), s == 1 ? 0.0 : 2.0);
      EXPECT_EQ(m.result.ivar(s, j), s == 1 ? 0.0 : 2.0);
      EXPECT_EQ(m.result.chi2pix(s, j), s == 1 ? 0.0 : 2.0);
      for (std::size_t k = 0; k < 5; ++k)
        EXPECT_EQ(m.result.resolution(s, k, j), s != 1 ? 0.2F : (k == 2 ? 1.0F : 0.0F));
    }
  }
  EXPECT_EQ(m.result.pixmask_fraction(1, 3), 0.4) << "what light there was stays";
}

TEST(BlankBin, BlanksItsRowOfTheMatrixAlsoAtTheEnds) {
  for (const std::size_t bin : {0UL, 1UL, 6UL, kBins - 1}) {
    Made m;
    blank_bin(m.result, 1, bin);
    for (std::size_t k = 0; k < 5; ++k) {
      for (std::size_t j = 0; j < kBins; ++j) {
        const bool row = j + k == bin + 2;  // R[j - 2 + k, j]
        const float want = row ? (j == bin ? 1.0F : 0.0F) : 0.2F;
        EXPECT_EQ(m.result.resolution(1, k, j), want) << bin << " " << k << " " << j;
        EXPECT_EQ(m.result.resolution(0, k, j), 0.2F);
      }
    }
    EXPECT_EQ(m.result.chi2pix(1, bin), 2.0);
    EXPECT_EQ(m.result.xflux(1, bin), 0.0);
  }
}

TEST(NotComputedBins, AreThoseThatHadLightInBundlesThatWereSolved) {
  Made m;
  m.lose(0, 3, 0.2);
  m.lose(0, 4, 0.995);  // no light: unconstrained
  m.lose(2, 11, 0.99);  // exactly as much as is needed
  ASSERT_EQ(not_computed_bins(m.result).size(), 2U);
  EXPECT_EQ(not_computed_bins(m.result)[0].j, 3U);
  EXPECT_EQ(not_computed_bins(m.result)[1].s, 2U);
  m.result.bundles[0].solve_sigma = 2;
  EXPECT_TRUE(not_computed_bins(m.result).empty());
  m.result.bundles[0].solve_sigma = 0;
  m.result.bundles[0].first_fiber = 1;  // its first fibre's row is 1
  EXPECT_EQ(not_computed_bins(m.result).size(), 1U);
}

TEST(EmptyFibersText, SaysWhatTheBestBinLacks) {
  Made m;
  EXPECT_EQ(empty_fibers_text(m.psf, m.result), "");
  m.lose_fiber(0, 1.0);
  m.lose_fiber(1, 1.0);
  m.result.pixmask_fraction(1, 7) = 0.5;
  EXPECT_EQ(empty_fibers_text(m.psf, m.result), "fibre 0: no good pixel; fibre 1: no solution");
  m.psf.x.coef(0, 0) += 1000;
  EXPECT_EQ(empty_fibers_text(m.psf, m.result),
            "fibre 0: traces leave the CCD; fibre 1: no solution");
  m.psf.status = {kStatusNan, 0, 0};
  EXPECT_EQ(empty_fibers_text(m.psf, m.result), "fibre 0: PSF not finite; fibre 1: no solution");
  m.result.spec_min = 0;
  m.lose_fiber(2, 1.0);
  for (std::size_t k = 0; k < 2; ++k) m.psf.sigma_y.coef(2, k) = 0;
  EXPECT_NE(empty_fibers_text(m.psf, m.result).find("fibre 2: PSF width not above 0.05 pixels"),
            std::string::npos);
}

TEST(SettleMissing, OfAGoodResultSaysAndChangesNothing) {
  Made m;
  m.settle();
  EXPECT_TRUE(m.warnings.empty());
  EXPECT_EQ(m.result.flux(1, 1), 2.0);
}

TEST(SettleMissing, BlanksWhatWasNotComputedAndNamesTheFibres) {
  Made m;
  m.lose(1, 4, 0.1);
  m.lose(2, 5, 0.1);
  m.settle();
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_EQ(m.warnings[0].find("2 bins of fibres 1-2 have good pixels and no result"), 0U)
      << m.warnings[0];
  EXPECT_EQ(m.result.flux(1, 4), 0.0);
  EXPECT_EQ(m.result.resolution(2, 2, 5), 1.0F);
}

TEST(SettleMissing, WarnsOfABoundThatSaysLittleAndOfTheWorstOnly) {
  Made m;
  m.result.bundles.resize(4);
  for (std::size_t b = 0; b < 4; ++b) m.result.bundles[b].first_fiber = static_cast<int>(b);
  for (BundleReport& b : m.result.bundles) b.nfiber = 1;
  m.result.bundles[0].bound_sigma = 0.05;
  m.result.bundles[1].bound_sigma = 0.3;
  m.result.bundles[2].bound_sigma = 0.7;
  m.result.bundles[3].bound_sigma = 9;
  m.result.bundles[3].solve_sigma = 2;  // told of elsewhere
  m.settle();
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_EQ(
      m.warnings[0].find(
          "2 bundles with a numerical error that is only known to be below 0.7 sigma (fibres 2-2;"),
      0U)
      << m.warnings[0];
}

TEST(SettleMissing, CountsBinsWhereThePsfIsTooNarrow) {
  Made m;
  // the width falls through zero inside the grid
  m.psf.sigma_x.coef(1, 0) = 0.5;
  m.psf.sigma_x.coef(1, 1) = -10;
  std::size_t narrow = 0;
  for (std::size_t j = 0; j < kBins; ++j) {
    if (m.psf.sigma_x(1, m.options.wave[j]) > kLeastSigma) continue;
    m.lose(1, j, 1.0);
    ++narrow;
  }
  ASSERT_GT(narrow, 0U);
  ASSERT_LT(narrow, kBins);
  m.settle();
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_EQ(m.warnings[0], std::to_string(narrow) +
                               " bins of fibre 1 have no light: PSF width not above 0.05 pixels");
}

}  // namespace
}  // namespace fiberloom
