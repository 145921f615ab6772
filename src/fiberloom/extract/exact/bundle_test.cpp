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
  OneBundle(const Frame& f, BundleRange bundle, const Tuning& t = {})
      : grid(guard_grid(f.psf, f.options.wave)),
        plan(make_spot_plan(f.psf, grid.wave)),
        tuning(t),
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

/// Long enough for a part of it to be one, with a dead block or none about the middle of fibre 1.
struct LongFrame : Frame {
  explicit LongFrame(bool defect) : Frame(3) {
    test::SmallPsf o;
    o.nfiber = 3;
    o.npix_y = 560;
    o.rows_per_aa = 5.25;
    psf = test::make_psf(o);
    options.wave = test::make_grid(280, 0.8 / 3);
    const CcdFrame whole = test::make_frame(psf);
    const auto ny = static_cast<std::size_t>(psf.npix_y), nx = static_cast<std::size_t>(psf.npix_x);
    Array2D<double> image(ny, nx), ivar(ny, nx);
    for (std::size_t r = 0; r < ny; ++r) {
      for (std::size_t c = 0; c < nx; ++c) {
        const bool dead = defect && r >= 260 && r < 310 && c >= 14 && c < 24;
        image(r, c) = dead ? 0.0 : whole.image.at(r, c);
        ivar(r, c) = dead ? 0.0 : whole.ivar.at(r, c);
      }
    }
    ccd = {PixelArray(std::move(image)), PixelArray(std::move(ivar))};
  }
};

bool same_bytes(const ExtractResult& a, const ExtractResult& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::equal(x.data(), x.data() + x.size(), y.data());
  };
  return same(a.flux, b.flux) && same(a.ivar, b.ivar) && same(a.xflux, b.xflux) &&
         same(a.resolution, b.resolution);
}

/// Wide bands in parts of the axis and from end to end: not the same, but within the bounds of
/// both.
void expect_parts_within_the_bound(const LongFrame& f) {
  Tuning everywhere;
  everywhere.wide_bands = WideBands::kEverywhere;
  const OneBundle parts(f, {0, 3}), whole(f, {0, 3}, everywhere);
  ASSERT_GT(whole.report.half_bandwidth,
            least_band(bundle_geometry(whole.plan, {0, 3}, spot_kernels(active_isa()).spots, 1e-12),
                       f.options, everywhere))
      << "else there is nothing to see here";
  EXPECT_EQ(parts.report.unconstrained, whole.report.unconstrained);
  EXPECT_FALSE(same_bytes(parts.result, whole.result)) << "no part was done by itself";
  const double kappa = std::max(parts.report.kappa, whole.report.kappa);
  EXPECT_LE(parts.report.bound_sigma, 2 * everywhere.tolerance_sigma + 20 * 2.2e-16 * kappa);
  const double bound = parts.report.bound_sigma + whole.report.bound_sigma;
  for (std::size_t i = 0; i < whole.result.flux.size(); ++i) {
    const double ivar = whole.result.ivar.data()[i], other = parts.result.ivar.data()[i];
    ASSERT_EQ(ivar > 0, other > 0) << i;
    if (!(ivar > 0)) continue;
    ASSERT_LE(std::abs(parts.result.flux.data()[i] - whole.result.flux.data()[i]) * std::sqrt(ivar),
              bound)
        << i;
    ASSERT_NEAR(other / ivar, 1, 2 * bound) << i;
  }
  for (std::size_t i = 0; i < whole.result.resolution.size(); ++i)
    ASSERT_NEAR(parts.result.resolution.data()[i], whole.result.resolution.data()[i], bound) << i;
}

TEST(WideBands, AreTakenForTheBinsBesideADefectAloneWithinTheBound) {
  expect_parts_within_the_bound(LongFrame(true));
}

TEST(WideBands, AreTakenAtTheEndsAloneOfAGridThatRunsPastTheCcd) {
  LongFrame f(false);
  const double step = f.options.wave[1] - f.options.wave[0];
  const double begin = f.options.wave.front() - 40 * step;
  f.options.wave.resize(f.options.wave.size() + 80);
  for (std::size_t j = 0; j < f.options.wave.size(); ++j)
    f.options.wave[j] = begin + static_cast<double>(j) * step;
  expect_parts_within_the_bound(f);
}

TEST(WideBands, DoNotDependOnTheFibresThatAreAskedFor) {
  LongFrame f(true);
  const ExtractResult all = f.extract();
  f.options.spec_min = 1;
  f.options.nspec = 1;
  const ExtractResult one = f.extract();
  const std::size_t n = f.options.wave.size();
  EXPECT_TRUE(std::equal(one.flux.row(0), one.flux.row(0) + n, all.flux.row(1)));
  EXPECT_TRUE(std::equal(one.ivar.row(0), one.ivar.row(0) + n, all.ivar.row(1)));
  EXPECT_EQ(one.bundles.at(0).bound_sigma, all.bundles.at(0).bound_sigma);
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
