// SPDX-License-Identifier: BSD-3-Clause
// Which pixels count, and that coadds mean what they say.
#include "fiberloom/redshift/prepare.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "fiberloom/redshift/test_spectra.hpp"
#include "loom/base/test_status.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::redshift {
namespace {

using test::Spectrum;
using test::Target;

constexpr PrepareOptions kPlain{.negative_nsig = 0};

Spectrum flat(std::size_t n, double first = 4000) {
  Spectrum s;
  for (std::size_t i = 0; i < n; ++i) s.wave.push_back(first + static_cast<double>(i));
  s.flux.assign(n, 1.0);
  s.ivar.assign(n, 1.0);
  s.ndiag = 7;
  s.resolution = test::gaussian_resolution(n, 7, 1.0);
  return s;
}

TargetSet of(std::vector<Spectrum> spectra, const PrepareOptions& options = kPlain) {
  const std::vector<Target> targets{{7, std::move(spectra)}};
  return test::prepared(targets, options);
}

TEST(Prepare, TurnsDiagonalsIntoRows) {
  const Spectrum s = flat(50);
  const TargetSet set = of({s});
  const Block& b = set.targets[0].blocks[0];
  EXPECT_EQ(b.padded(), 56U);
  for (long i = 0; i < 50; ++i) {
    for (long m = 0; m < 7; ++m) {
      EXPECT_EQ(b.rows[static_cast<std::size_t>(i * 7 + m)], test::resolution_at(s, i, i - 3 + m));
    }
  }
}

TEST(Prepare, PixelsThatAreNoMeasurementHaveNoWeight) {
  constexpr double kInf = HUGE_VAL, kNan = std::numeric_limits<double>::quiet_NaN();
  Spectrum s = flat(60);
  s.flux[10] = kNan, s.flux[11] = kInf, s.flux[12] = -kInf;
  s.ivar[20] = kNan, s.ivar[21] = kInf, s.ivar[22] = -1, s.ivar[23] = 0;
  s.mask.assign(60, 0);
  s.mask[30] = 1;
  s.flux[40] = -6, s.flux[41] = -4;
  s.resolution[3 * 60 + 50] = kNan;
  const TargetSet set = of({s}, {.least_row_sum = 0});
  const PreparedTarget& t = set.targets[0];
  std::vector<std::size_t> bad;
  for (std::size_t i = 0; i < 60; ++i) {
    if (t.blocks[0].weight[i] == 0) bad.push_back(i);
  }
  EXPECT_EQ(bad, (std::vector<std::size_t>{10, 11, 12, 20, 21, 22, 23, 30, 40}));
  EXPECT_EQ(t.good_pixels, 51);
  EXPECT_EQ(t.weight_flux2, 50 + 16);
  for (const double r : t.blocks[0].rows) EXPECT_TRUE(std::isfinite(r));
}

TEST(Prepare, PixelsOfAnAbsurdIvarAreDroppedAndCountedWhateverTheUnit) {
  for (const double unit : {1.0, 1e-9, 1e34}) {
    Spectrum s = flat(60);
    for (double& ivar : s.ivar) ivar *= unit;
    for (double& flux : s.flux) flux /= std::sqrt(unit);
    s.ivar[9] *= 1e38;
    s.ivar[10] *= 2e9;
    s.ivar[11] *= 1e8;  // odd, and no more than that
    s.ivar[12] = 0;
    const TargetSet set = of({s, flat(60, 5000)}, {.least_row_sum = 0, .hot_pixel_nsig = 0});
    const PreparedTarget& t = set.targets[0];
    for (const std::size_t i : {9U, 10U, 12U}) EXPECT_EQ(t.blocks[0].weight[i], 0) << i;
    EXPECT_GT(t.blocks[0].weight[11], 0);
    EXPECT_EQ(t.absurd_pixels, 2);
    EXPECT_EQ(t.good_pixels, 117);
  }
  Spectrum s = flat(60);
  s.ivar[9] = 1e38;
  EXPECT_EQ(of({s}, redrock_rules()).targets[0].absurd_pixels, 0);
}

TEST(Prepare, PixelsOfAnAbsurdSignalToNoiseAreDroppedAndCountedWhateverTheUnit) {
  for (const double unit : {1.0, 1e-17, 1e100}) {
    Spectrum s = flat(60);
    s.flux[9] = 1e30;
    s.flux[10] = -1e30;
    s.flux[11] = 1.1e6;
    s.flux[12] = 0.9e6;  // bright, and no more than that
    for (double& flux : s.flux) flux *= unit;
    for (double& ivar : s.ivar) ivar /= unit * unit;
    const TargetSet set =
        of({s, flat(60, 5000)}, {.least_row_sum = 0, .negative_nsig = 0, .hot_pixel_nsig = 0});
    const PreparedTarget& t = set.targets[0];
    for (const std::size_t i : {9U, 10U, 11U}) EXPECT_EQ(t.blocks[0].weight[i], 0) << i;
    EXPECT_GT(t.blocks[0].weight[12], 0);
    EXPECT_EQ(t.absurd_pixels, 3);
    EXPECT_EQ(t.good_pixels, 117);
  }
  Spectrum s = flat(60);
  s.flux[9] = 1e30;
  EXPECT_EQ(of({s}, redrock_rules()).targets[0].absurd_pixels, 0);
}

TEST(Prepare, RowsOfTheResolutionThatAreNoneAreThoseOfNoBlurAndTheirPixelsAreDropped) {
  Spectrum s = flat(60);
  s.resolution = test::gaussian_resolution(60, 7, 0.8);
  for (std::size_t m = 0; m < 7; ++m) s.resolution[m * 60 + 30] *= m % 2 == 0 ? 1e30 : -1e30;
  const TargetSet set = of({s, flat(60, 5000)}, {.least_row_sum = 0});
  const Block& b = set.targets[0].blocks[0];
  for (std::size_t i = 27; i <= 33; ++i) EXPECT_EQ(b.weight[i], 0) << i;  // who sees its column
  EXPECT_EQ(set.targets[0].absurd_pixels, 7);
  for (const double r : b.rows) EXPECT_LE(std::abs(r), 1);
}

TEST(Prepare, ThePeersRulesLoseFourGoodPixelsForEachBadOne) {
  Spectrum s = flat(60);
  s.resolution = test::gaussian_resolution(60, 7, 0.8);  // about as wide as DESI's
  s.ivar[30] = 0;
  const auto count = [&](const PrepareOptions& options) {
    return of({s}, options).targets[0].good_pixels;
  };
  // 5 around the bad one, 2 at each end where rows are cut
  EXPECT_EQ(count(redrock_rules()), 60 - 5 - 4);
  EXPECT_EQ(count({.least_row_sum = 0}), 59);
}

TEST(Prepare, MasksSkyLines) {
  const Spectrum s = flat(40, 5560);
  EXPECT_EQ(of({s}, {.least_row_sum = 0}).targets[0].good_pixels, 40 - 11);
  EXPECT_EQ(of({s}, {.least_row_sum = 0, .mask_sky_lines = false}).targets[0].good_pixels, 40);
}

/// With rows as weights the coadd of two exposures of one spectrum is R times that spectrum,
/// whatever the weights; with columns it is not.
TEST(Prepare, ACoaddOfRowsIsRTimesTheSource) {
  const CounterRng rng(3, 3);
  std::vector<double> sharp(80);
  for (std::size_t i = 0; i < 80; ++i) sharp[i] = 5 + rng.normal(i);
  std::vector<Spectrum> exposures;
  for (std::size_t e = 0; e < 3; ++e) {
    Spectrum s = flat(80);
    s.resolution = test::gaussian_resolution(80, 7, 0.8 + 0.4 * static_cast<double>(e));
    for (long i = 0; i < 80; ++i) {
      const auto at = static_cast<std::size_t>(i);
      s.flux[at] = 0;
      for (long j = 0; j < 80; ++j) {
        s.flux[at] += test::resolution_at(s, i, j) * sharp[static_cast<std::size_t>(j)];
      }
      s.ivar[at] = (static_cast<std::size_t>(i) + e) % 5 == 0 ? 0 : rng.uniform(1000 * e + at);
    }
    exposures.push_back(s);
  }
  const auto worst = [&](Coadd coadd) {
    const TargetSet set = of(exposures, {.coadd = coadd, .least_row_sum = 0});
    const Block& b = set.targets[0].blocks[0];
    double most = 0;
    for (std::size_t i = 0; i < 80; ++i) {
      double model = 0;
      for (std::size_t m = 0; m < 7; ++m) {
        if (i + m >= 3 && i + m - 3 < 80) model += b.rows[i * 7 + m] * sharp[i + m - 3];
      }
      if (b.weight[i] > 0) most = std::max(most, std::abs(model - b.flux[i]));
    }
    return most;
  };
  EXPECT_LT(worst(Coadd::kRows), 1e-12);
  EXPECT_GT(worst(Coadd::kColumns), 0.01);
}

TEST(Prepare, CoaddsOnlyWhatHasTheSameWavelengths) {
  const std::vector<Spectrum> spectra{flat(40), flat(50, 5000), flat(40)};
  const TargetSet joined = of(spectra), apart = of(spectra, {.coadd = Coadd::kNone});
  ASSERT_EQ(joined.targets[0].blocks.size(), 2U);
  EXPECT_EQ(joined.grids.size(), 2U);
  EXPECT_EQ(joined.targets[0].blocks[0].weight[5], 2);
  EXPECT_EQ(joined.targets[0].blocks[0].flux[5], 1);
  ASSERT_EQ(apart.targets[0].blocks.size(), 3U);
  EXPECT_EQ(apart.targets[0].blocks[2].grid, 0U);
}

TEST(Prepare, RejectsACosmicRayAsThePeer) {
  std::vector<Spectrum> exposures{flat(60), flat(60), flat(60)};
  exposures[1].flux[30] = 100;
  PrepareOptions options = redrock_rules();
  options.cosmic_nsig = 6;
  const TargetSet set = of(exposures, options);
  const Block& b = set.targets[0].blocks[0];
  EXPECT_EQ(b.flux[30], 1);
  EXPECT_EQ(b.weight[30], 2);
  EXPECT_EQ(b.weight[29], 3);
}

TEST(Prepare, ATargetWithoutAGoodPixelStays) {
  Spectrum s = flat(40);
  std::fill(s.ivar.begin(), s.ivar.end(), 0.0);
  for (const Coadd coadd : {Coadd::kNone, Coadd::kRows, Coadd::kColumns}) {
    const TargetSet set = of({s, s}, {.coadd = coadd, .cosmic_nsig = 4});
    EXPECT_EQ(set.targets[0].good_pixels, 0);
    EXPECT_EQ(set.targets[0].weight_flux2, 0);
  }
}

TEST(Prepare, FloatsAreTakenAsTheyAre) {
  const Spectrum s = flat(40);
  const std::vector<float> flux(s.flux.begin(), s.flux.end()), ivar(40, 0.3F),
      resolution(s.resolution.begin(), s.resolution.end());
  const std::vector<TargetView> views{
      {1, {{s.wave, std::span(flux), std::span(ivar), {}, std::span(resolution), 7}}}};
  SerialExecutor executor;
  const TargetSet set = prepare(views, kPlain, executor);
  EXPECT_EQ(set.targets[0].blocks[0].weight[20], static_cast<double>(0.3F));
}

TEST(Prepare, SaysWhichTargetIsOfTheWrongShape) {
  const auto status = [](const std::function<void(Spectrum&)>& spoil) {
    Spectrum s = flat(20);
    spoil(s);
    return loom::test::status_of([&] { (void)of({s}); });
  };
  EXPECT_EQ(status([](Spectrum&) {}), Status::kOk);
  EXPECT_EQ(status([](Spectrum& s) { s.flux.pop_back(); }), Status::kWrongShape);
  EXPECT_EQ(status([](Spectrum& s) { s.ivar.push_back(1); }), Status::kWrongShape);
  EXPECT_EQ(status([](Spectrum& s) { s.mask.assign(3, 0); }), Status::kWrongShape);
  EXPECT_EQ(status([](Spectrum& s) { s.ndiag = 5; }), Status::kWrongShape);
  EXPECT_EQ(status([](Spectrum& s) { s.wave[3] = s.wave[2]; }), Status::kWrongShape);
  EXPECT_EQ(status([](Spectrum& s) { s.wave[3] = std::nan(""); }), Status::kWrongShape);
}

TEST(Prepare, DoesNotDependOnTheThreads) {
  const Template t = test::line_template();
  std::vector<Target> targets;
  for (std::uint64_t i = 0; i < 9; ++i) {
    targets.push_back(test::make_target(t, std::vector<double>{1, 1, 0.5}, 0.05, 4, i));
  }
  std::vector<TargetView> views;
  for (const Target& each : targets) views.push_back(each.view());
  SerialExecutor one;
  TestThreads four(4);
  const TargetSet a = prepare(views, {}, one), b = prepare(views, {}, four);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(a.targets[i].weight_flux2, b.targets[i].weight_flux2);
  }
}

}  // namespace
}  // namespace fiberloom::redshift
