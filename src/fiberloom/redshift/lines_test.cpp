// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/lines.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/redshift/test_spectra.hpp"

namespace fiberloom::redshift {
namespace {

/// A straight continuum with [OII] of the flux and width given, as a template of one vector.
Template oii_template(double flux, double sigma_kms) {
  Template t;
  t.spectype = "GALAXY";
  for (double w = 3400; w < 4000; w += 0.05) t.wave.push_back(w);
  t.flux = Array2D<double>(1, t.wave.size(), 0.0);
  for (std::size_t k = 0; k < t.wave.size(); ++k) {
    t.flux(0, k) = 1 + 1e-4 * t.wave[k];
    for (const auto& [at, share] : {std::pair{3727.09, 0.43}, std::pair{3729.88, 0.57}}) {
      const double sigma = at * sigma_kms / kLightKms, d = (t.wave[k] - at) / sigma;
      t.flux(0, k) += flux * share / (sigma * std::sqrt(2 * M_PI)) * std::exp(-0.5 * d * d);
    }
  }
  return t;
}

TEST(LineFluxes, AreTheLightOfTheLinesWithItsError) {
  // the doublet at 4100 and 4270 Angstrom: in one camera, and where two overlap
  for (const double z : {0.1, 0.1456}) {
    for (const double sigma : {80.0, 160.0}) {
      const Template t = oii_template(60, sigma);
      const std::vector<double> one{1};
      double sum = 0, sum2 = 0, noise = 0;
      constexpr std::size_t kTries = 60;
      for (std::size_t k = 0; k < kTries; ++k) {
        const std::vector<test::Target> targets{test::make_target(t, one, z, 2, 50 + k)};
        const TargetSet set = test::prepared(targets);
        const std::vector<LineFlux> lines = line_fluxes(set.targets[0], set.grids, z);
        ASSERT_EQ(lines.front().name, "OII");
        // in the source's frame flux per Angstrom is what the template has: light x (1 + z)
        const double pull = (lines[0].flux - 60 * (1 + z)) * std::sqrt(lines[0].ivar);
        sum += pull;
        sum2 += pull * pull;
        noise += 1 / std::sqrt(lines[0].ivar);
        EXPECT_EQ(lines[3].ivar, 0) << "H alpha is not in sight";
      }
      EXPECT_NEAR(sum / kTries, 0, 0.6) << z << " " << sigma;
      EXPECT_NEAR(std::sqrt(sum2 / kTries), 1, 0.35) << z << " " << sigma;
      EXPECT_LT(noise / kTries, 3.5);
    }
  }
}

TEST(LineFluxes, AreNothingWithoutGoodPixels) {
  const Template t = oii_template(12, 80);
  std::vector<test::Target> targets{test::make_target(t, std::vector<double>{1}, 0.1, 2, 5)};
  for (auto& s : targets[0].spectra) std::fill(s.ivar.begin(), s.ivar.end(), 0.0);
  const TargetSet set = test::prepared(targets);
  for (const LineFlux& line : line_fluxes(set.targets[0], set.grids, 0.1)) {
    EXPECT_EQ(line.flux, 0);
    EXPECT_EQ(line.ivar, 0);
  }
}

TEST(QualityCuts, AreThoseOfTheSurveys) {
  Candidate c;
  c.spectype = "GALAXY";
  c.z = 0.3;
  c.delta_chi2 = 50;
  set_quality(c);
  EXPECT_EQ(c.quality, quality::kBgs | quality::kLrg);
  c.delta_chi2 = 20;
  set_quality(c);
  EXPECT_EQ(c.quality, quality::kLrg);
  c.z = 1.55;
  c.lines = {{"OII", 10, 1, 80}};  // S/N 10: 1 > 0.9 - 0.26
  set_quality(c);
  EXPECT_EQ(c.quality, quality::kElg);
  c.lines[0].flux = 3;
  set_quality(c);
  EXPECT_EQ(c.quality, 0U);
  c.spectype = "QSO";
  set_quality(c);
  EXPECT_EQ(c.quality, quality::kQso);
  c.zwarn = zwarn::kSmallDeltaChi2;
  set_quality(c);
  EXPECT_EQ(c.quality, 0U);
}

}  // namespace
}  // namespace fiberloom::redshift
