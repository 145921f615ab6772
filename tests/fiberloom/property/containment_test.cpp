// SPDX-License-Identifier: BSD-3-Clause
// Numbers that no CCD gives: which pixels are dropped, and what becomes of equations that cannot be
// solved. Failure of one fibre is data; nothing that leaves is infinite; a stop is heard at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fiberloom/bench/small_case.hpp"
#include "fiberloom/extract/exact/decorrelate.hpp"
#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/extract/missing.hpp"
#include "fiberloom/extract/storable.hpp"
#include "loom/base/error.hpp"
#include "loom/linalg/rational_root.hpp"

namespace fiberloom {
namespace {

struct Case : SmallCase {
  std::vector<std::string> warnings;
};

Case make_case() {
  SmallFrameOptions o;
  o.nfiber = 6;
  o.nwave = 90;
  o.margin_aa = 60;
  SerialExecutor serial;
  return {make_small_case(o, 3, serial), {}};
}

Array2D<double>& image_of(Case& c) { return std::get<Array2D<double>>(c.ccd.image.data()); }
Array2D<double>& ivar_of(Case& c) { return std::get<Array2D<double>>(c.ccd.ivar.data()); }

/// The pixel at the middle of a fibre's trace.
double& weight_on(Case& c, std::size_t fiber) {
  const double wave = c.options.wave[c.options.wave.size() / 2];
  return ivar_of(c)(static_cast<std::size_t>(std::lround(c.psf.y(fiber, wave))),
                    static_cast<std::size_t>(std::lround(c.psf.x(fiber, wave))));
}

ExtractResult extract(Case& c, Backend backend = Backend::kCpu) {
  Observer observer;
  observer.message = [&](LogLevel level, const std::string& text) {
    if (level == LogLevel::kWarning) c.warnings.push_back(text);
  };
  c.warnings.clear();
  SerialExecutor serial;
  if (backend == Backend::kCpu) return extract_exact(c.ccd, c.psf, c.options, serial, observer);
  return make_device_engine(backend, {})->extract(c.ccd, c.psf, c.options, serial, observer);
}

void expect_sound(const ExtractResult& r) {
  for (std::size_t s = 0; s < r.flux.rows(); ++s) {
    for (std::size_t j = 0; j < r.flux.cols(); ++j) {
      ASSERT_TRUE(std::isfinite(r.chi2pix(s, j)));
      ASSERT_EQ(r.ivar(s, j) == 0, (r.mask(s, j) & kAllBadPix) != 0);
      if (r.ivar(s, j) == 0) {
        ASSERT_EQ(r.flux(s, j), 0);
        ASSERT_EQ(r.xflux(s, j), 0);
      } else {
        ASSERT_TRUE(storable(r.flux(s, j), r.ivar(s, j), r.xflux(s, j)));
      }
    }
  }
  for (std::size_t i = 0; i < r.resolution.size(); ++i)
    ASSERT_TRUE(std::isfinite(r.resolution.data()[i]));
}

std::size_t good_bins(const ExtractResult& r, std::size_t first, std::size_t last) {
  return static_cast<std::size_t>(std::count_if(r.ivar.row(first),
                                                r.ivar.row(first) + (last - first) * r.ivar.cols(),
                                                [](double w) { return w > 0; }));
}

TEST(PixelMask, DropsWeightsAndValuesThatNoCcdGivesAndNamesTheFirst) {
  Case c = make_case();
  const double usual = ivar_of(c)(10, 10);
  ivar_of(c)(20, 30) = 1e14;
  ivar_of(c)(20, 31) = 1e-20;
  image_of(c)(21, 5) = -1e20;
  image_of(c)(22, 5) = std::nan("");
  const MaskCounts counts = apply_mask(c.ccd, {});
  EXPECT_EQ(counts.wild_ivar, 2U);
  EXPECT_EQ(counts.wild_image, 1U);
  EXPECT_EQ(counts.nan_image, 1U);
  EXPECT_EQ(counts.bad(), 4U);
  EXPECT_GT(counts.median_ivar, 0.1 * usual);
  EXPECT_LT(counts.median_ivar, 10 * usual);
  EXPECT_EQ(ivar_of(c)(20, 30), 0);
  EXPECT_EQ(ivar_of(c)(20, 31), 0);
  EXPECT_EQ(image_of(c)(21, 5), 0);
  const std::string text = wild_pixels_text(counts);
  EXPECT_EQ(text.find("3 pixels with a wild value are taken as masked: IVAR[20,30] is 1e+14, "
                      "IVAR[20,31] is 1e-20, IMAGE[21,5] is -1e+20 with ivar"),
            0U)
      << text;
}

TEST(PixelMask, LeavesWhatACcdMayGiveAndTheUnitsToTheUser) {
  for (const double scale : {1.0, 1e-20, 1e20}) {
    Case c = make_case();
    for (std::size_t i = 0; i < ivar_of(c).size(); ++i) {
      ivar_of(c).data()[i] *= scale;
      image_of(c).data()[i] /= std::sqrt(scale);
    }
    ivar_of(c)(20, 30) *= 1e6;
    ivar_of(c)(20, 31) *= 1e-10;
    image_of(c)(21, 5) = 1e9 / std::sqrt(scale);
    const MaskCounts counts = apply_mask(c.ccd, {});
    EXPECT_EQ(counts.bad(), 0U) << scale;
    EXPECT_EQ(wild_pixels_text(counts), "");
  }
}

TEST(PixelMask, TakesTheMedianOfTheFewGoodPixelsOfALargeFrame) {
  const std::size_t n = 500;  // more than are sampled
  CcdFrame ccd{PixelArray(Array2D<float>(n, n, 1.0F)), PixelArray(Array2D<float>(n, n, 1e30F))};
  Array2D<std::uint32_t> mask(n, n, 1U);
  for (std::size_t i = 0; i < 50; ++i) {
    mask(7, i) = 0;
    std::get<Array2D<float>>(ccd.ivar.data())(7, i) = 0.25F;
  }
  mask(8, 8) = 0;  // 1e30
  const MaskCounts counts = apply_mask(ccd, mask);
  EXPECT_EQ(counts.median_ivar, 0.25);
  EXPECT_EQ(counts.wild_ivar, 1U);
  EXPECT_EQ(counts.by_mask, n * n - 51);
}

/// One fibre's S of one window: tridiagonal, with a value of its own on each diagonal element.
struct RootProblem {
  exact::Windows windows = exact::cut_windows(24, 100);
  std::vector<double> s, x = std::vector<double>(24, 1.0);
  exact::WorkArena arena;
  exact::RootBuffers buffers{arena};

  explicit RootProblem(double (*diagonal)(int), double beside = 0.0) {
    s.assign(static_cast<std::size_t>(windows.rows) * 9 * kLanes, 0.0);
    for (int row = 0; row < windows.rows; ++row) {
      for (int i = 0; i < kLanes; ++i) {
        s[static_cast<std::size_t>(row * 9 * kLanes + i)] = diagonal(row);
        if (row + 1 < windows.rows)
          s[static_cast<std::size_t>((row * 9 + 1) * kLanes + i)] = beside;
      }
    }
  }
  exact::RootReport root(bool widest) {
    exact::RootTask task;
    task.widest = widest;
    return exact::square_root(windows, task, s.data(), x.data(), banded_kernels(active_isa()),
                              buffers);
  }
};

TEST(Root, OfWhatIsNoMatrixIsLostAndNoException) {
  RootProblem nan([](int row) { return row == 5 ? std::nan("") : 1.0; });
  EXPECT_TRUE(nan.root(true).lost);
  RootProblem infinite([](int row) { return row == 5 ? HUGE_VAL : 1.0; });
  EXPECT_TRUE(infinite.root(true).lost);
  RootProblem negative([](int) { return -1.0; });
  EXPECT_TRUE(negative.root(true).lost);
  RootProblem zero([](int) { return 0.0; });
  EXPECT_TRUE(zero.root(true).lost);
}

TEST(Root, AsksForAWiderBandFirst) {
  RootProblem negative([](int row) { return row == 5 ? -1.0 : 1.0; });
  const exact::RootReport report = negative.root(false);
  EXPECT_FALSE(report.lost);
  EXPECT_EQ(report.poles, 0);
  EXPECT_EQ(report.truncation, std::numeric_limits<double>::infinity());
}

TEST(Root, GivesUpTheBinsThatAShiftDrowns) {
  RootProblem problem([](int row) { return row == 5 ? -1e-12 : (row == 9 ? 1e-14 : 1.0); });
  const exact::RootReport report = problem.root(true);
  ASSERT_FALSE(report.lost);
  EXPECT_LT(report.truncation, 1e-4);
  for (int row = 0; row < problem.windows.rows; ++row) {
    const bool drowned = row == 5 || row == 9;
    EXPECT_EQ(problem.buffers.is_drowned(static_cast<std::size_t>(row * kLanes)), drowned) << row;
    if (drowned) continue;
    EXPECT_NEAR(problem.buffers.q1[static_cast<std::size_t>(row * kLanes)], 1.0, 1e-6) << row;
  }
}

TEST(Root, OfAGoodMatrixGivesUpNothing) {
  RootProblem problem([](int) { return 2.0; }, 0.5);
  const exact::RootReport report = problem.root(true);
  EXPECT_FALSE(report.lost);
  EXPECT_EQ(problem.buffers.drowned.size(), 0U);
}

TEST(RationalRoot, EndsForConditionNumbersBeyondAllDigits) {
  for (const double kappa : {1e30, 1e300, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_LE(pole_count(kappa, 1e-8), 40);
    EXPECT_EQ(rational_root(1.0, kappa, 40).t.size(), 40U);
  }
}

// The engine's own containment, behind apply_mask(): pixels that it was not shown.

TEST(Containment, OfAnAbsurdWeightKeepsTheOtherBundleToTheByteAndNothingInfinite) {
  Case clean = make_case();
  const ExtractResult expected = extract(clean);
  for (const Backend backend : {Backend::kCpu, Backend::kEmulate}) {
    Case reference = make_case();
    const ExtractResult whole = extract(reference, backend);
    for (const double weight : {1e14, 1e30, 1e300}) {
      Case c = make_case();
      weight_on(c, 1) = weight;
      const ExtractResult r = extract(c, backend);
      expect_sound(r);
      const std::size_t n = r.flux.cols();
      EXPECT_TRUE(std::equal(whole.flux.row(3), whole.flux.row(3) + 3 * n, r.flux.row(3)))
          << weight;
      EXPECT_TRUE(std::equal(whole.ivar.row(3), whole.ivar.row(3) + 3 * n, r.ivar.row(3)))
          << weight;
      EXPECT_FALSE(c.warnings.empty()) << weight;
      // what is given out is right: the pixel's own bin may be as sure as it says
      for (std::size_t s = 0; s < 3; ++s) {
        for (std::size_t j = 0; j < n; ++j) {
          if (r.ivar(s, j) == 0 || r.bundles[0].bound_sigma > 0.1) continue;
          ASSERT_GT(r.ivar(s, j), 0.3 * expected.ivar(s, j)) << s << " " << j;
        }
      }
    }
  }
}

TEST(Containment, OfWeightsThatDoNotCountIsToldAndLeavesTheOtherBinsRight) {
  const auto weaken = [](Case& c, double factor) {
    Array2D<double>& ivar = ivar_of(c);
    for (std::size_t y = ivar.rows() / 2 - 20; y < ivar.rows() / 2 + 20; ++y) {
      for (std::size_t x = 0; x < ivar.cols(); ++x) ivar(y, x) *= factor;
    }
  };
  Case masked = make_case();
  weaken(masked, 0.0);
  apply_mask(masked.ccd, {});
  const ExtractResult expected = extract(masked);
  EXPECT_TRUE(masked.warnings.empty()) << masked.warnings.front();
  for (const Backend backend : {Backend::kCpu, Backend::kEmulate}) {
    Case c = make_case();
    weaken(c, 1e-30);
    const ExtractResult r = extract(c, backend);
    expect_sound(r);
    EXPECT_FALSE(c.warnings.empty());
    std::size_t compared = 0;
    for (std::size_t i = 0; i < r.flux.size(); ++i) {
      const double ivar = expected.ivar.data()[i];
      if (expected.pixmask_fraction.data()[i] > 0.1 || r.ivar.data()[i] == 0) continue;
      ++compared;
      ASSERT_NEAR(r.ivar.data()[i] / ivar, 1, 1e-2) << i;
      ASSERT_LT(std::abs(r.flux.data()[i] - expected.flux.data()[i]) * std::sqrt(ivar), 0.1) << i;
    }
    EXPECT_GT(compared, r.flux.size() / 3);
  }
}

TEST(Containment, OfValuesBeyondFloatMasksThem) {
  for (const Backend backend : {Backend::kCpu, Backend::kEmulate}) {
    Case c = make_case();
    for (std::size_t i = 0; i < ivar_of(c).size(); ++i) {
      image_of(c).data()[i] *= 1e40;
      ivar_of(c).data()[i] *= 1e-80;
    }
    const ExtractResult r = extract(c, backend);
    expect_sound(r);
    EXPECT_EQ(good_bins(r, 0, 6), 0U);
    ASSERT_FALSE(c.warnings.empty());
    EXPECT_NE(c.warnings.front().find("fibres 0-5 have good pixels and no result"),
              std::string::npos)
        << c.warnings.front();
  }
}

TEST(Missing, FibresAreNamedWithTheReason) {
  Case c = make_case();
  for (std::size_t k = 0; k < c.psf.sigma_x.coef.cols(); ++k) c.psf.sigma_x.coef(1, k) = 0;
  c.psf.x.coef(2, 0) += 1e5;
  c.psf.status.assign(6, 0);
  c.psf.status[4] = kStatusNan;
  for (std::size_t k = 0; k < c.psf.sigma_x.coef.cols(); ++k) c.psf.sigma_x.coef(4, k) = 0;
  const ExtractResult r = extract(c);
  const std::string text =
      "fibre 4: PSF not finite; fibre 2: traces leave the CCD; "
      "fibre 1: PSF width not above 0.05 pixels";
  EXPECT_EQ(empty_fibers_text(c.psf, r), text);
  ASSERT_EQ(c.warnings.size(), 1U);
  EXPECT_EQ(c.warnings.front(), "without a single good bin: " + text);
}

TEST(Missing, NumbersAreRangesAndNeverTooMany) {
  EXPECT_EQ(number_ranges({7}), "7");
  EXPECT_EQ(number_ranges({3, 5, 6, 7}), "3, 5-7");
  EXPECT_EQ(number_ranges({1, 3, 5, 7, 9, 11, 13, 15}), "1, 3, 5, 7, 9, 11 and 2 more");
}

TEST(Missing, ABlankBinHasTheIdentitysRow) {
  Case c = make_case();
  ExtractResult r = extract(c);
  blank_bin(r, 1, 2);
  const std::size_t middle = r.resolution.rows() / 2, n = r.flux.cols();
  EXPECT_EQ(r.ivar(1, 2), 0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < r.resolution.rows(); ++k) {
      if (j + k != 2 + middle) continue;  // R[j - middle + k, j]
      EXPECT_EQ(r.resolution(1, k, j), j == 2 ? 1.0F : 0.0F);
    }
  }
  EXPECT_GT(r.resolution(1, middle, 3), 0.0F);
}

TEST(Stop, IsHeardWithinABundleOnEveryEngine) {
  for (const Backend backend : {Backend::kCpu, Backend::kEmulate}) {
    Case c = make_case();
    c.options.bundle_size = 6;  // one bundle
    SerialExecutor serial;
    int asked = 0;
    Observer observer;
    observer.stop_requested = [&] { return ++asked > 12; };
    try {
      if (backend == Backend::kCpu) {
        (void)extract_exact(c.ccd, c.psf, c.options, serial, observer);
      } else {
        (void)make_device_engine(backend, {})->extract(c.ccd, c.psf, c.options, serial, observer);
      }
      FAIL() << "asked " << asked << " times";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInterrupted);
    }
  }
}

}  // namespace
}  // namespace fiberloom
