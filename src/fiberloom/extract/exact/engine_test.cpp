// SPDX-License-Identifier: BSD-3-Clause
// What the bundles of a frame share and what becomes of their parts.
#include "fiberloom/extract/exact/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fiberloom/extract/test_psf.hpp"

namespace fiberloom::exact {
namespace {

TEST(EmptyResult, HasTheShapeOfWhatIsAskedFor) {
  const PsfModel psf = test::make_psf();
  ExtractOptions o;
  o.wave = test::make_grid(7);
  o.ndiag = 5;
  EXPECT_EQ(empty_result(psf, o).flux.rows(), 3U);
  o.spec_min = 1;
  EXPECT_EQ(empty_result(psf, o).ivar.rows(), 2U);
  o.nspec = 1;
  const ExtractResult r = empty_result(psf, o);
  EXPECT_EQ(r.spec_min, 1);
  EXPECT_EQ(r.wave, o.wave);
  EXPECT_EQ(r.pixmask_fraction.size(), 7U);
  EXPECT_EQ(r.resolution.rows(), 5U);
  EXPECT_EQ(r.resolution.cols(), 7U);
}

TEST(JoinModels, AddsStripsWhereTheyMeetAndCropsThemAtTheCcd) {
  const PsfModel psf = test::make_psf();
  std::vector<ModelStrip> strips(2);
  strips[0] = {Array2D<float>(6, 8, 1.0F), -3, -2};
  strips[1] = {Array2D<float>(4, psf.npix_x + 5U, 10.0F), 2, 3};
  const Array2D<float> image = join_models(strips, psf);
  for (std::size_t y = 0; y < image.rows(); ++y) {
    for (std::size_t x = 0; x < image.cols(); ++x) {
      const float want =
          (y < 4 && x < 5 ? 1.0F : 0.0F) + (y >= 3 && y < 7 && x >= 2 ? 10.0F : 0.0F);
      ASSERT_EQ(image(y, x), want) << y << " " << x;
    }
  }
}

TEST(WeakPrior, IsThereForStepsThatPixelsCannotCarryAndIsToldOf) {
  const PsfModel psf = test::make_psf();  // 1.75 rows an Angstrom
  int warnings = 0;
  Observer observer;
  observer.message = [&](LogLevel level, const std::string&) {
    warnings += level == LogLevel::kWarning;
  };
  ExtractOptions o;
  o.wave = test::make_grid(5, 0.4);
  EXPECT_EQ(weak_prior(psf, o, observer), 0);
  EXPECT_EQ(warnings, 0);
  o.wave = test::make_grid(5, 0.3);
  EXPECT_GT(weak_prior(psf, o, observer), 0);
  EXPECT_EQ(warnings, 1);
  o.wave = {5050};
  EXPECT_EQ(weak_prior(psf, o, observer), 0);
}

TEST(SettleUnsolved, BlanksBundlesWithoutASolutionAndWarnsOfTheOthers) {
  const PsfModel psf = test::make_psf();
  ExtractOptions o;
  o.wave = test::make_grid(4);
  o.spec_min = 1;
  ExtractResult r = empty_result(psf, o);
  for (auto* a : {&r.flux, &r.ivar, &r.xflux, &r.chi2pix}) std::fill_n(a->data(), a->size(), 2.0);
  r.bundles.resize(3);
  for (int b = 0; b < 3; ++b) r.bundles[static_cast<std::size_t>(b)].first_fiber = b;
  for (BundleReport& b : r.bundles) b.nfiber = 1;
  r.bundles[0].solve_sigma = 7;     // of no fibre that was asked for
  r.bundles[1].solve_sigma = 0.01;  // known, if badly
  r.bundles[2].solve_sigma = NAN;
  std::vector<std::string> warnings;
  Observer observer;
  observer.message = [&](LogLevel, const std::string& text) { warnings.push_back(text); };
  settle_unsolved(o, observer, r);
  ASSERT_EQ(warnings.size(), 3U);
  EXPECT_NE(warnings[1].find("fibres 1-1: the solution stopped at an error of 0.01 sigma"),
            std::string::npos)
      << warnings[1];
  EXPECT_NE(warnings[2].find("no solution"), std::string::npos) << warnings[2];
  EXPECT_EQ(r.flux(0, 0), 2.0);
  EXPECT_EQ(r.flux(1, 0), 0.0);
  EXPECT_EQ(r.ivar(1, 3), 0.0);
  EXPECT_EQ(r.bundles[0].unconstrained, 0U);
  EXPECT_EQ(r.bundles[2].unconstrained, 4U);
}

TEST(Extract, TellsOfEveryBundleAndEndsWhenAsked) {
  const PsfModel psf = test::make_psf();
  const CcdFrame ccd = test::make_frame(psf);
  ExtractOptions o;
  o.wave = test::make_grid(8);
  o.bundle_size = 1;
  SerialExecutor serial;
  std::vector<std::size_t> told;
  Observer observer;
  observer.progress = [&](const char* stage, std::size_t done, std::size_t total) {
    EXPECT_STREQ(stage, "extract");
    EXPECT_EQ(total, 3U);
    told.push_back(done);
  };
  (void)extract_exact(ccd, psf, o, serial, observer);
  EXPECT_EQ(told, (std::vector<std::size_t>{1, 2, 3}));
  observer.stop_requested = [] { return true; };
  EXPECT_THROW((void)extract_exact(ccd, psf, o, serial, observer), Error);
}

}  // namespace
}  // namespace fiberloom::exact
