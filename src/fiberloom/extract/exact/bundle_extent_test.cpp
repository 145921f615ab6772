// SPDX-License-Identifier: BSD-3-Clause
// The few places that the extent looks at, against the geometry of every bin.
#include "fiberloom/extract/exact/bundle_extent.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fiberloom/extract/exact/geometry.hpp"
#include "fiberloom/extract/test_psf.hpp"

namespace fiberloom {
namespace {

TEST(GridSize, KeepsTheEndsAndTheFinestStep) {
  const GridSize size = grid_size({5000, 5001, 5001.5, 5003});
  EXPECT_EQ(size.first_aa, 5000);
  EXPECT_EQ(size.last_aa, 5003);
  EXPECT_EQ(size.step_aa, 0.5);
  EXPECT_EQ(size.nwave, 4U);
  EXPECT_EQ(grid_size({5000}).step_aa, 1.0);
  EXPECT_EQ(grid_size({}).nwave, 0U);
}

TEST(FibersAsked, EndAtTheLastThatThereIs) {
  const PsfModel psf = test::make_psf();
  ExtractOptions o;
  o.spec_min = 1;
  EXPECT_EQ(fibers_asked(psf, o).last, 3);
  o.nspec = 1;
  EXPECT_EQ(fibers_asked(psf, o).first, 1);
  EXPECT_EQ(fibers_asked(psf, o).last, 2);
  o.nspec = 100;
  EXPECT_EQ(fibers_asked(psf, o).last, 3);
}

TEST(BundleExtent, IsThatOfTheGeometryWithinABinAndAPack) {
  for (const double step : {0.4, 0.8, 1.3}) {
    for (const int nbin : {20, 60}) {
      test::SmallPsf small;
      small.nfiber = 4;
      const PsfModel psf = test::make_psf(small);
      const std::vector<double> wave = test::make_grid(nbin, step);
      const std::vector<BundleRange> bundles{{0, 1}, {1, 4}};
      const BundleExtent extent = extent_of(psf, bundles, grid_size(wave), 0);
      const exact::BundleGeometry g = exact::bundle_geometry(
          make_spot_plan(psf, wave), {1, 4}, spot_kernels(active_isa()).spots, 1e-12);
      EXPECT_EQ(extent.fibers, 3);
      EXPECT_NEAR(extent.band, g.band, 1) << step;
      EXPECT_NEAR(extent.cross_band, g.cross_band, 1.001) << step;
      EXPECT_LE(extent.least_band, g.band) << step;
      EXPECT_GE(extent.rows, g.rows) << step;  // memory is planned by it
      EXPECT_LE(extent.rows, g.rows + 2 * psf.stamp_ny()) << step;
      EXPECT_GE(extent.columns, g.columns) << step;
      EXPECT_LE(extent.columns, g.columns + 2 * psf.stamp_nx() + kLanes) << step;
    }
  }
}

TEST(BundleExtent, OfAGridOffTheCcdIsAStamp) {
  PsfModel psf = test::make_psf();
  for (std::size_t f = 0; f < 3; ++f) psf.y.coef(f, 0) += 1e5;
  const BundleExtent extent = extent_of(psf, {{0, 3}}, grid_size(test::make_grid(20)), 0);
  EXPECT_EQ(extent.rows, psf.stamp_ny());
  EXPECT_EQ(extent.columns, psf.stamp_nx());
}

TEST(RequireStep, RefusesOnlyWhatSurelyDoesNotFitAndNamesAStepThatDoes) {
  const PsfModel psf = test::make_psf();  // 11 rows a stamp, 1.75 rows an Angstrom
  ExtractOptions o;
  EXPECT_NO_THROW(require_step(psf, o, grid_size(test::make_grid(30, 0.25))));
  EXPECT_NO_THROW(require_step(psf, o, grid_size({5050})));
  const GridSize edge = grid_size(test::make_grid(30, 0.187));  // within a bin of the limit
  ASSERT_GT(extent_of(psf, {{0, 3}}, edge, 0).band, exact::kMostCrossBins);
  EXPECT_NO_THROW(require_step(psf, o, edge));
  try {
    require_step(psf, o, grid_size(test::make_grid(30, 0.05)));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::kUnsupported);
    const std::string text = e.what(), key = "about ";
    const double finest = std::stod(text.substr(text.find(key) + key.size()));
    EXPECT_NO_THROW(require_step(psf, o, grid_size(test::make_grid(30, finest)))) << text;
    EXPECT_THROW(require_step(psf, o, grid_size(test::make_grid(30, 0.7 * finest))), Error) << text;
  }
}

}  // namespace
}  // namespace fiberloom
