// SPDX-License-Identifier: BSD-3-Clause
// Whole scans: the fast one is the exact one where all resolutions are alike, and no value depends
// on threads.
#include "fiberloom/redshift/scan.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "fiberloom/redshift/redrock.hpp"
#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/redshift/test_spectra.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/test_status.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::redshift {
namespace {

using test::Target;

/// Targets with one resolution or with several, gaps, a camera missing.
std::vector<Target> targets_of(const Template& t, std::size_t n, double spread) {
  std::vector<Target> targets;
  const CounterRng rng(11, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const double z = 0.01 + 0.15 * rng.uniform(i);
    const std::vector<double> c{1, 1 + rng.uniform(100 + i), rng.uniform(200 + i)};
    targets.push_back(test::make_target(t, c, z, 9, i, 1.1 + spread * rng.uniform(300 + i)));
    if (i % 3 == 1) targets.back().spectra.pop_back();
    if (i % 4 == 2) {
      std::fill_n(targets.back().spectra[0].ivar.begin() + 30, 70, 0.0);
    }
  }
  return targets;
}

TemplateSet two_templates() {
  Template other = test::line_template(5, 9);
  other.spectype = "QSO";
  return {test::line_template(3), other};
}

TEST(Scan, FastIsExactWhereAllResolutionsAreAlike) {
  const TemplateSet templates = two_templates();
  const TargetSet set = test::prepared(targets_of(templates[0], 7, 0));
  SerialExecutor executor;
  const auto exact = scan(set, templates, {.mode = ScanMode::kExact}, executor);
  const auto fast = scan(set, templates, {.mode = ScanMode::kFast}, executor);
  ASSERT_EQ(exact.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    ASSERT_EQ(exact[k].z, templates[k].redshifts);
    for (std::size_t t = 0; t < 7; ++t) {
      for (std::size_t i = 0; i < exact[k].z.size(); ++i) {
        // its products and sums over a tile are floats
        ASSERT_NEAR(fast[k].chi2(t, i), exact[k].chi2(t, i), 1e-6 * set.targets[t].weight_flux2);
        ASSERT_NEAR(fast[k].penalty(t, i), exact[k].penalty(t, i),
                    1e-4 * (1 + exact[k].penalty(t, i)));
      }
    }
  }
}

/// Spectra in units of `flux`, templates in units of `height`.
std::vector<Curve> fast_in_units(double flux, double height, std::vector<TemplateSet>& templates,
                                 std::vector<TargetSet>& sets) {
  templates.push_back(two_templates());
  std::vector<Target> targets = targets_of(templates.back()[0], 5, 0.5);
  for (Target& t : targets) {
    for (test::Spectrum& s : t.spectra) {
      for (double& f : s.flux) f *= flux;
      for (double& w : s.ivar) w /= flux * flux;
    }
  }
  for (Template& t : templates.back()) {
    for (std::size_t k = 0; k < t.flux.size(); ++k) t.flux.data()[k] *= height;
  }
  sets.push_back(test::prepared(targets));
  SerialExecutor executor;
  return scan(sets.back(), templates.back(), {}, executor);
}

TEST(Scan, AFastOneDoesNotMindUnitsThatFloatsCannotHold) {
  std::vector<TemplateSet> templates;
  std::vector<TargetSet> sets;
  templates.reserve(2);
  sets.reserve(2);
  const auto plain = fast_in_units(1, 1, templates, sets);
  const auto odd = fast_in_units(0x1p-150, 0x1p-90, templates, sets);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(std::memcmp(plain[k].chi2.data(), odd[k].chi2.data(), plain[k].chi2.size() * 8), 0);
  }
}

TEST(Scan, AVectorThatSaysNothingNewAddsNothingToAFastOne) {
  TemplateSet templates{test::line_template(3)};
  const TargetSet set = test::prepared(targets_of(templates[0], 5, 0));
  SerialExecutor executor;
  const auto expected = scan(set, templates, {.mode = ScanMode::kExact}, executor);
  const Template& t = templates[0];
  TemplateSet doubled{t};
  Array2D<double> flux(4, t.wave.size());
  for (std::size_t k = 0; k < t.wave.size(); ++k) {
    for (std::size_t a = 0; a < 3; ++a) flux(a, k) = t.flux(a, k);
    flux(3, k) = 0.3 * t.flux(0, k) - 0.7 * t.flux(2, k);
  }
  doubled[0].flux = std::move(flux);
  const auto fast = scan(set, doubled, {}, executor);
  for (std::size_t i = 0; i < fast[0].z.size(); ++i) {
    ASSERT_NEAR(fast[0].chi2(2, i), expected[0].chi2(2, i), 1e-6 * set.targets[2].weight_flux2);
  }
}

TEST(Scan, ExactIsWhatTheFitterGives) {
  const TemplateSet templates = two_templates();
  const TargetSet set = test::prepared(targets_of(templates[0], 3, 0.5));
  SerialExecutor executor;
  const auto curves = scan(set, templates, {.mode = ScanMode::kExact}, executor);
  PackFit fit;
  for (std::size_t t = 0; t < 3; ++t) {
    const Fitter& fitter = *curves[1].fitter;
    std::vector<double> pack(fitter.sampler().pack_size());
    fitter.fit(set.targets[t], std::span(curves[1].z).subspan(40, 8), pack, fit);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      EXPECT_EQ(curves[1].chi2(t, 40 + lane), fit.chi2[lane]);
    }
  }
}

TEST(Scan, GivesTheSameBytesForAnyNumberOfThreads) {
  const TemplateSet templates = two_templates();
  const TargetSet set = test::prepared(targets_of(templates[0], 9, 0.5));
  SerialExecutor one;
  TestThreads three(3);
  for (const ScanMode mode : {ScanMode::kExact, ScanMode::kFast}) {
    const auto a = scan(set, templates, {.mode = mode}, one);
    const auto b = scan(set, templates, {.mode = mode}, three);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(std::memcmp(a[k].chi2.data(), b[k].chi2.data(), a[k].chi2.size() * 8), 0);
    }
    const auto found = refine(set, a, {}, {}, one), again = refine(set, b, {}, {}, three);
    const auto peer = find_redrock(set, a, {}, {}, one),
               twice = find_redrock(set, b, {}, {}, three);
    for (std::size_t t = 0; t < 9; ++t) {
      EXPECT_EQ(found[t][0].z, again[t][0].z);
      EXPECT_EQ(found[t][0].zerr, again[t][0].zerr);
      EXPECT_EQ(peer[t][0].chi2, twice[t][0].chi2);
    }
  }
}

TEST(Scan, AnExactRowDoesNotDependOnWhoElseIsThere) {
  const TemplateSet templates = two_templates();
  const std::vector<Target> targets = targets_of(templates[0], 8, 0.5);
  SerialExecutor executor;
  const TargetSet all = test::prepared(targets);
  const TargetSet some = test::prepared(std::span(targets).subspan(4, 2));
  const auto a = scan(all, templates, {.mode = ScanMode::kExact}, executor);
  const auto b = scan(some, templates, {.mode = ScanMode::kExact}, executor);
  for (std::size_t i = 0; i < a[0].z.size(); ++i) EXPECT_EQ(a[0].chi2(5, i), b[0].chi2(1, i));
}

TEST(Scan, TemplatesThatDoNotCoverAreTrimmedOrRefused) {
  Template t = test::line_template();
  t.redshifts = {-0.3, 0.1, 0.5, 0.8};  // 4000-4553 needs 5713 at the first, 2222 at the last
  const TemplateSet templates{t};
  const TargetSet set = test::prepared(targets_of(t, 2, 0));
  SerialExecutor executor;
  EXPECT_EQ(scan(set, templates, {}, executor)[0].z, (std::vector<double>{0.1, 0.5}));
  EXPECT_EQ(loom::test::status_of(
                [&] { (void)scan(set, templates, {.coverage = Coverage::kRequire}, executor); }),
            kTemplateRange);
  t.redshifts = {0.8, 0.9};
  const TemplateSet none{t};
  EXPECT_EQ(loom::test::status_of([&] { (void)scan(set, none, {}, executor); }), kTemplateRange);
}

TEST(Scan, StepsCanBeMadeFiner) {
  const TemplateSet templates{test::line_template()};
  const TargetSet set = test::prepared(targets_of(templates[0], 1, 0));
  SerialExecutor executor;
  const auto curves = scan(set, templates, {.step_kms = 100}, executor);
  EXPECT_GT(curves[0].z.size(), 2 * templates[0].redshifts.size());
  EXPECT_EQ(curves[0].chi2.cols(), curves[0].z.size());
}

}  // namespace
}  // namespace fiberloom::redshift
