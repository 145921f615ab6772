// SPDX-License-Identifier: BSD-3-Clause
// The recipe of one bundle: which bands it tries, and what it writes. Its numbers are held against
// a dense oracle in tests/fiberloom/property/.
#include "fiberloom/extract/exact/bundle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/test_psf.hpp"

namespace fiberloom::exact {
namespace {

TEST(LeastBand, HoldsWhatMeetsWhatIsStoredAndWhatATestAsksFor) {
  BundleGeometry g;
  ExtractOptions o;
  Tuning t;
  g.band = 6;
  EXPECT_EQ(least_band(g, o, t), 8);
  g.band = 8;
  EXPECT_EQ(least_band(g, o, t), 12);
  o.ndiag = 31;
  EXPECT_EQ(least_band(g, o, t), 16);
  t.least_band = 20;
  EXPECT_EQ(least_band(g, o, t), 24);
}

TEST(WiderBand, GrowsWithTheExcessUpToTheWidest) {
  const Tuning t;
  for (const int band : kBands) {
    if (band >= t.most_band) continue;
    int before = band;
    for (const double truncation : {1.1e-4, 1e-2, 1.0, 1e6, HUGE_VAL}) {
      const int wider = wider_band(band, truncation, 0.6, t);
      EXPECT_GT(wider, band) << "else it would be tried for ever";
      EXPECT_GE(wider, before);
      EXPECT_LE(wider, t.most_band);
      before = wider;
    }
  }
  // couplings fall by 0.6 a bin: 1e4 too much takes some 18 bins, less a margin
  EXPECT_EQ(wider_band(8, 1.0, 0.6, t), 24);
}

struct Frame {
  PsfModel psf;
  CcdFrame ccd;
  ExtractOptions options;
  explicit Frame(int nfiber = 6) {
    test::SmallPsf o;
    o.nfiber = nfiber;
    o.npix_y = 170;  // guard bins lie on the CCD
    psf = test::make_psf(o);
    ccd = test::make_frame(psf);
    options.wave = test::make_grid(20);
    options.bundle_size = 3;
  }
  [[nodiscard]] ExtractResult extract() const {
    SerialExecutor serial;
    return exact::extract(ccd, psf, options, {}, active_isa(), serial, {}, nullptr);
  }
};

/// One bundle of a frame into a result that is -1 all over.
struct OneBundle {
  GuardedGrid grid;
  SpotPlan plan;
  Tuning tuning;
  ExtractResult result;
  ModelStrip model;
  BundleReport report;
  OneBundle(const Frame& f, BundleRange bundle)
      : grid(guard_grid(f.psf, f.options.wave)),
        plan(make_spot_plan(f.psf, grid.wave)),
        result(empty_result(f.psf, f.options)) {
    for (auto* a :
         {&result.flux, &result.ivar, &result.xflux, &result.chi2pix, &result.pixmask_fraction})
      std::fill_n(a->data(), a->size(), -1.0);
    const FrameContext frame{f.ccd, f.options, grid, plan, tuning, active_isa()};
    BundleWorkspace work;
    report = extract_bundle(frame, bundle, work, result, &model);
  }
};

TEST(ExtractBundle, WritesTheRowsOfItsOwnFibresAndNoOthers) {
  const Frame f;
  const OneBundle one(f, {3, 6});
  const std::size_t n = f.options.wave.size();
  for (std::size_t s = 0; s < 6; ++s) {
    for (std::size_t j = 0; j < n; ++j) {
      ASSERT_EQ(one.result.flux(s, j) == -1.0, s < 3) << s << " " << j;
      ASSERT_EQ(one.result.chi2pix(s, j) == -1.0, s < 3);
      ASSERT_EQ(one.result.pixmask_fraction(s, j) == -1.0, s < 3);
    }
  }
  EXPECT_EQ(one.report.first_fiber, 3);
  EXPECT_EQ(one.report.nfiber, 3);
  EXPECT_LT(one.report.bound_sigma, 2 * Tuning{}.tolerance_sigma);
  EXPECT_EQ(one.report.unconstrained, 0U);
  EXPECT_GT(one.report.kappa, 1);
}

TEST(ExtractBundle, GivesAFibreTheSameBytesWhetherOthersAreAskedForOrNot) {
  const Frame f;
  const ExtractResult all = f.extract();
  Frame part;
  part.options.spec_min = 4;
  part.options.nspec = 1;
  const ExtractResult one = part.extract();
  const std::size_t n = f.options.wave.size();
  EXPECT_TRUE(std::equal(one.flux.row(0), one.flux.row(0) + n, all.flux.row(4)));
  EXPECT_TRUE(std::equal(one.ivar.row(0), one.ivar.row(0) + n, all.ivar.row(4)));
  EXPECT_EQ(one.bundles.size(), 1U);
}

TEST(ExtractBundle, MakesAModelOfItsStripThatIsZeroWhereNoSpotReaches) {
  const Frame f;
  const OneBundle one(f, {0, 3});
  ASSERT_FALSE(one.model.value.empty());
  EXPECT_LE(one.model.x0, 11 - 8);
  const Array2D<float>& m = one.model.value;
  EXPECT_TRUE(std::any_of(m.data(), m.data() + m.size(), [](float v) { return v != 0; }));
  for (std::size_t r = 0; r < m.rows(); ++r) EXPECT_EQ(m(r, m.cols() - 1), 0.0F) << r;
}

TEST(ExtractBundle, StoresAsManyDiagonalsAsAskedForOnGridsShorterThanTheirBand) {
  Frame f(3);
  f.options.wave = {5048, 5050.5};
  const ExtractResult few = f.extract();
  f.options.ndiag = 129;
  ASSERT_LT(2 + 2 * guard_grid(f.psf, f.options.wave).guard, 64) << "rows of a window";
  const ExtractResult many = f.extract();
  for (std::size_t s = 0; s < 3; ++s) {
    for (std::size_t j = 0; j < 2; ++j) {
      ASSERT_GT(many.ivar(s, j), 0) << s << " " << j;
      EXPECT_NEAR(many.ivar(s, j) / few.ivar(s, j), 1, 1e-4);
      EXPECT_LT(std::abs(many.flux(s, j) - few.flux(s, j)) * std::sqrt(few.ivar(s, j)), 1e-4);
      for (std::size_t k = 0; k < 11; ++k)
        EXPECT_NEAR(many.resolution(s, 64 - 5 + k, j), few.resolution(s, k, j), 1e-4);
    }
  }
}

}  // namespace
}  // namespace fiberloom::exact
