// SPDX-License-Identifier: BSD-3-Clause
// Archetypes: the one that made a spectrum is found beneath a tilt of the calibration, and the fit
// is the constrained minimum.
#include <gtest/gtest.h>

#include "fiberloom/redshift/archetype_fit.hpp"
#include "fiberloom/redshift/archetype_scan.hpp"
#include "fiberloom/redshift/redrock.hpp"
#include "fiberloom/redshift/test_spectra.hpp"

namespace fiberloom::redshift {
namespace {

constexpr double kZ = 0.05;

/// 40 archetypes, two groups of a kernel: a continuum and lines in a mixture of their own.
Archetypes forty(const Template& basis) {
  Archetypes a;
  a.spectype = "GALAXY";
  a.wave = basis.wave;
  a.igm = Igm::kNone;
  a.flux = Array2D<double>(40, a.wave.size());
  for (std::size_t r = 0; r < 40; ++r) {
    const double u = static_cast<double>(r) / 40;
    for (std::size_t k = 0; k < a.wave.size(); ++k) {
      a.flux(r, k) = basis.flux(0, k) + u * basis.flux(1, k) + (1 - u) * basis.flux(2, k);
    }
    a.subtypes.push_back("T_" + std::to_string(r));
  }
  return a;
}

/// A spectrum of archetype 33 times 2, with a tilt in one camera.
test::Target tilted(const Template& basis, double ivar = 100) {
  test::Target t =
      test::make_target(basis, std::vector<double>{2, 2 * 33.0 / 40, 2 * 7.0 / 40}, kZ, ivar, 5);
  const std::size_t n = t.spectra[1].wave.size();
  for (std::size_t i = 0; i < n; ++i) {
    t.spectra[1].flux[i] += 0.1 * (2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1);
  }
  return t;
}

TEST(Archetypes, TheOneThatMadeTheSpectrumIsFoundBeneathATilt) {
  const Template basis = test::line_template();
  const Archetypes archetypes = forty(basis);
  const test::Target target = tilted(basis);
  const TargetSet set = test::prepared({&target, 1});
  const ArchetypeFitter fitter(set, archetypes, Igm::kNone, {});
  ASSERT_TRUE(fitter.covers(kZ));
  const ArchetypeFit fit = fitter.fit(set.targets[0], kZ);
  EXPECT_EQ(fit.subtype, "T_33");
  ASSERT_EQ(fit.coefficients.size(), 1U);
  EXPECT_NEAR(fit.coefficients[0], 2, 0.02);
  ASSERT_EQ(fit.legendre.size(), 4U);
  EXPECT_NEAR(fit.legendre[3], 0.1, 0.02);  // second camera, slope
  EXPECT_NEAR(fit.legendre[1], 0, 0.02);
  EXPECT_NEAR(fit.chi2, static_cast<double>(set.targets[0].good_pixels), 150);
}

TEST(Archetypes, ManyTogetherAreNeverWorseAndNoneIsNegative) {
  const Template basis = test::line_template();
  const Archetypes archetypes = forty(basis);
  const test::Target target = tilted(basis);
  const TargetSet set = test::prepared({&target, 1});
  const auto fit = [&](std::size_t nearest, Constrained how) {
    const ArchetypeFitter fitter(set, archetypes, Igm::kNone,
                                 {.nearest = nearest, .constrained = how});
    return fitter.fit(set.targets[0], kZ);
  };
  const ArchetypeFit one = fit(1, Constrained::kChi2), three = fit(3, Constrained::kChi2);
  EXPECT_LE(three.chi2, one.chi2 + 1e-6);
  EXPECT_EQ(three.coefficients.size(), 3U);
  EXPECT_EQ(three.subtype.substr(0, 5), "T_33;");
  for (const double c : three.coefficients) EXPECT_GE(c, 0);
  EXPECT_LE(three.chi2, fit(3, Constrained::kNormalEquations).chi2 + 1e-6);
}

TEST(ArchetypeScan, IsTheConstrainedMinimumAtEveryRedshift) {
  const Template basis = test::line_template();
  Archetypes archetypes = forty(basis);
  for (std::size_t k = 0; k < archetypes.wave.size(); ++k) archetypes.flux(0, k) *= -1;  // useless
  const test::Target target = tilted(basis);
  const TargetSet set = test::prepared({&target, 1});
  for (const LegendreOf cameras : {LegendreOf::kEachCamera, LegendreOf::kAllCameras}) {
    for (const double sigma : {0.0, 0.1}) {
      const ArchetypeFitter fitter(set, archetypes, Igm::kNone,
                                   {.legendre = 3, .cameras = cameras, .prior_sigma = sigma});
      const bool prior = sigma > 0 && cameras == LegendreOf::kEachCamera;
      const ArchetypeScan scan(set, archetypes, Igm::kNone, fitter, prior ? sigma * sigma : 0);
      const ZPack z{0.001, 0.02, 0.0499, 0.05, 0.0501, 0.08, 0.1, 0.15};
      const ZPack found = scan.chi2(set.targets[0], scan.project(set.targets[0]), z);
      for (std::size_t i = 0; i < z.size(); ++i) {
        const ArchetypeFit fit = fitter.fit(set.targets[0], z[i]);
        double expected = fit.chi2;
        for (const double c : fit.legendre) expected += prior ? c * c / (sigma * sigma) : 0;
        // with a prior the best by chi2 alone need not be the best of both
        EXPECT_LE(found[i], expected + 1e-9 * set.targets[0].weight_flux2);
        if (prior) continue;
        EXPECT_NEAR(found[i], expected, 1e-9 * set.targets[0].weight_flux2);
      }
    }
  }
}

TEST(ArchetypeScan, FindsWhatTheTemplatesHaveNoMinimumFor) {
  const Template basis = test::line_template();
  const Archetypes archetypes = forty(basis);
  const test::Target target = tilted(basis);
  const TargetSet set = test::prepared({&target, 1});
  TemplateSet poor{basis};
  poor[0].flux = Array2D<double>(1, basis.wave.size(), 1.0);  // flat: no redshift at all
  SerialExecutor executor;
  const auto curves = scan(set, poor, {}, executor);
  const ArchetypeFitter fitter(set, archetypes, Igm::kNone, {});
  const ArchetypeScan scan(set, archetypes, Igm::kNone, fitter, 0.01);
  const std::vector<Candidate> found = scan.find(set.targets[0], curves[0], 0, 3);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].method, "ARCH");
  EXPECT_EQ(found[0].subtype, "T_33");
  EXPECT_LT(found[0].zerr, 1e-4);
  EXPECT_NEAR(found[0].z, kZ, 5 * found[0].zerr);
  EXPECT_GT(found[1].chi2, found[0].chi2 + 100);
  EXPECT_EQ(found[0].zwarn, 0U);
}

TEST(Archetypes, TakeTheTemplatesPlaceInThePeersRules) {
  Template basis = test::line_template();
  const std::vector<Archetypes> archetypes{forty(basis)};
  const test::Target target = tilted(basis);
  const TargetSet set = test::prepared({&target, 1}, redrock_rules());
  SerialExecutor executor;
  const TemplateSet templates{basis};
  const auto curves = scan(set, templates, redrock_scan(), executor);
  RedrockOptions options;
  options.archetypes = archetypes;
  const std::vector<Candidate> found = find_redrock(set, curves, {}, options, executor)[0];
  EXPECT_EQ(found[0].method, "ARCH");
  EXPECT_EQ(found[0].subtype, "T_33");
  EXPECT_NEAR(found[0].z, kZ, 1e-4);
  EXPECT_EQ(found[0].legendre.size(), 4U);
  EXPECT_EQ(found[0].template_coefficients.size(), 3U);
  EXPECT_EQ(found[0].zwarn, 0U);
}

}  // namespace
}  // namespace fiberloom::redshift
