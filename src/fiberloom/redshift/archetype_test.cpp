// SPDX-License-Identifier: BSD-3-Clause
// Archetypes: the one that made a spectrum is found beneath a tilt of the calibration, and the fit
// is the constrained minimum.
#include <gtest/gtest.h>

#include "fiberloom/redshift/archetype_fit.hpp"
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
