// SPDX-License-Identifier: BSD-3-Clause
// Templates that reach over a part of the spectra.
#include "fiberloom/redshift/smooth_reference.hpp"

#include <gtest/gtest.h>

#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/redshift/test_spectra.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/test_status.hpp"

namespace fiberloom::redshift {
namespace {

constexpr double kZ = 0.1231;
const std::vector<double> kMix{1, 0.8, 0.6};

/// The template from `low` to `high` Angstrom at rest.
Template part_of(const Template& all, double low, double high) {
  Template out = all;
  out.wave.clear();
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < all.wave.size(); ++k) {
    if (all.wave[k] < low || all.wave[k] > high) continue;
    kept.push_back(k);
    out.wave.push_back(all.wave[k]);
  }
  out.flux = Array2D<double>(all.nbasis(), kept.size());
  for (std::size_t a = 0; a < all.nbasis(); ++a) {
    for (std::size_t k = 0; k < kept.size(); ++k) out.flux(a, k) = all.flux(a, kept[k]);
  }
  return out;
}

/// Wider than two cameras of the other tests: 4000 to 4899 Angstrom in one.
TargetSet long_spectra(const Template& t, std::size_t n, double ivar = 25) {
  std::vector<test::Target> targets;
  for (std::size_t i = 0; i < n; ++i) {
    targets.push_back(
        {static_cast<std::int64_t>(i), {test::make_spectrum(t, kMix, kZ, 4000, 900, ivar, i)}});
  }
  TargetSet set = test::prepared(targets);
  add_smooth_reference(set);
  return set;
}

ScanOptions partial(ScanMode mode, double share = 0.5) {
  return {.mode = mode, .coverage = Coverage::kPartial, .least_coverage = share};
}

TEST(PartialCoverage, FindsTheTruthWithHalfOfTheTemplate) {
  const Template all = test::line_template();
  const TargetSet set = long_spectra(all, 5);
  const TemplateSet half{part_of(all, 3400, 4100)};  // observed 3818 to 4605
  SerialExecutor executor;
  EXPECT_EQ(loom::test::status_of([&] { (void)scan(set, half, {}, executor); }), kTemplateRange);
  RefineOptions by_chi2;
  by_chi2.order = Order::kChi2;
  by_chi2.errors = Errors::kChi2;
  for (const ScanMode mode : {ScanMode::kExact, ScanMode::kFast}) {
    const auto curves = scan(set, half, partial(mode), executor);
    EXPECT_GT(curves[0].z.size(), 100U);
    const auto found = refine(set, curves, {}, by_chi2, executor);
    for (const auto& candidates : found) {
      EXPECT_NEAR(candidates[0].z, kZ, 5 * candidates[0].zerr + 1e-5);
      EXPECT_EQ(candidates[0].zwarn & zwarn::kBadFit, 0U);
    }
  }
}

TEST(PartialCoverage, ChangesNothingWhereATemplateReachesEverything) {
  const TemplateSet all{test::line_template()};
  const TargetSet set = long_spectra(all[0], 5);
  SerialExecutor executor;
  for (const ScanMode mode : {ScanMode::kExact, ScanMode::kFast}) {
    const auto before = scan(set, all, {.mode = mode}, executor);
    const auto after = scan(set, all, partial(mode), executor);
    ASSERT_EQ(before[0].z, after[0].z);
    for (std::size_t i = 0; i < before[0].z.size(); ++i) {
      ASSERT_EQ(before[0].chi2(2, i), after[0].chi2(2, i));
    }
  }
}

TEST(PartialCoverage, FastIsExactWhereResolutionsAreAlike) {
  const Template all = test::line_template();
  const TargetSet set = long_spectra(all, 5);
  const TemplateSet half{part_of(all, 3400, 4100)};
  SerialExecutor executor;
  const auto exact = scan(set, half, partial(ScanMode::kExact), executor);
  const auto fast = scan(set, half, partial(ScanMode::kFast), executor);
  for (std::size_t i = 0; i < exact[0].z.size(); ++i) {
    ASSERT_NEAR(fast[0].chi2(3, i), exact[0].chi2(3, i), 1e-6 * set.targets[3].weight_flux2);
  }
}

TEST(PartialCoverage, ChiSquareOfTheTruthIsThatOfAllPixels) {
  const Template all = test::line_template();
  std::vector<test::Target> flat;  // a continuum alone: it is as smooth as what stands for it
  for (std::uint64_t i = 0; i < 9; ++i) {
    flat.push_back(
        {static_cast<std::int64_t>(i),
         {test::make_spectrum(all, std::vector<double>{1, 0, 0}, kZ, 4000, 900, 25, i)}});
  }
  TargetSet set = test::prepared(flat);
  add_smooth_reference(set);
  SerialExecutor executor;
  const auto whole = scan(set, {all}, {.mode = ScanMode::kExact}, executor);
  const auto half = scan(set, {part_of(all, 3400, 4100)}, partial(ScanMode::kExact), executor);
  double sum = 0, square = 0;
  for (std::size_t t = 0; t < flat.size(); ++t) {
    const auto at = [](const Curve& c) {
      return static_cast<std::size_t>(std::lower_bound(c.z.begin(), c.z.end(), kZ) - c.z.begin());
    };
    const double d = half[0].chi2(t, at(half[0])) - whole[0].chi2(t, at(whole[0]));
    sum += d;
    square += d * d;
  }
  // some 400 pixels are smoothed: chi2 of them alone would scatter by 28
  EXPECT_LT(std::abs(sum / 9), 6);
  EXPECT_LT(std::sqrt(square / 9), 10);
}

}  // namespace
}  // namespace fiberloom::redshift
