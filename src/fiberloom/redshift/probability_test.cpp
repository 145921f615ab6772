// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/probability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/redshift/test_spectra.hpp"

namespace fiberloom::redshift {
namespace {

/// A galaxy template with training, and a star's without lines.
TemplateSet two_types() {
  TemplateSet set{test::line_template(3, 1), test::line_template(2, 8)};
  const CounterRng rng(2, 2);
  set[0].training = Array2D<double>(60, 3, 1.0);
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t a = 1; a < 3; ++a) set[0].training(i, a) = 0.5 + 0.4 * rng.uniform(3 * i + a);
  }
  set[0].redshifts = denser(set[0].redshifts, 70);
  set[1].spectype = "STAR";
  set[1].redshifts.clear();
  for (double z = -0.002; z < 0.002; z += 1e-4) set[1].redshifts.push_back(z);
  return set;
}

struct Fit {
  TemplateSet templates = two_types();
  std::vector<test::Target> targets;
  TargetSet set;
  SerialExecutor executor;
  std::vector<Curve> curves;
  std::vector<std::vector<Candidate>> found;

  /// `count` galaxies of coefficients as in the training, at noise of 1 / ivar.
  Fit(std::size_t count, double ivar, const char* type = "GALAXY") {
    const CounterRng rng(31, 7);
    templates[0].spectype = type;
    for (std::size_t t = 0; t < count; ++t) {
      std::vector<double> c;
      const auto row = static_cast<std::size_t>(60 * rng.uniform(3 * t));
      for (std::size_t a = 0; a < 3; ++a) c.push_back(templates[0].training(row, a));
      z.push_back(std::exp(std::log(1.19) * rng.uniform(3 * t + 1)) - 1);
      targets.push_back(test::make_target(templates[0], c, z.back(), ivar, 100 + t));
    }
    set = test::prepared(targets);
    ScanOptions scan_options;
    scan_options.fit.evidence = WithEvidence::kYes;
    curves = scan(set, templates, scan_options, executor);
    RefineOptions options;
    options.probability.star = 1e-3;  // the sample has none
    found = refine(set, curves, {}, options, executor);
  }
  std::vector<double> z;
};

TEST(Probability, OfABrightTargetIsOne) {
  const Fit fit(4, 100);
  for (std::size_t t = 0; t < 4; ++t) {
    const Candidate& best = fit.found[t].front();
    EXPECT_EQ(best.spectype, "GALAXY");
    EXPECT_NEAR(best.probability, 1, 1e-6);
    EXPECT_NEAR(best.class_probability, 1, 1e-6);
    EXPECT_LT(std::abs(best.z - fit.z[t]), 5 * best.zerr);
    for (std::size_t k = 1; k < fit.found[t].size(); ++k) {
      EXPECT_LT(fit.found[t][k].probability, 1e-6);
    }
  }
}

TEST(Probability, SaysHowOftenItIsRight) {
  constexpr std::size_t kTargets = 150;
  const Fit fit(kTargets, 0.25);
  double expected = 0, right = 0, doubt = 0;
  for (std::size_t t = 0; t < kTargets; ++t) {
    const Candidate& best = fit.found[t].front();
    EXPECT_GE(best.probability, 0);
    EXPECT_LE(best.probability, best.class_probability + 1e-12);
    expected += best.probability;
    doubt += best.probability * (1 - best.probability);
    right += best.spectype == "GALAXY" && std::abs(velocity_kms(best.z, fit.z[t])) < 1000;
  }
  EXPECT_GT(doubt, 3) << "the sample is too easy to tell anything";
  EXPECT_NEAR(right, expected, 3 * std::sqrt(doubt));
}

TEST(Probability, ErrorsKnowOfSecondPeaks) {
  const Fit fit(60, 0.25);
  double sum2 = 0, count = 0, wider = 0;
  for (std::size_t t = 0; t < 60; ++t) {
    const Candidate& best = fit.found[t].front();
    EXPECT_GE(best.zerr, best.posterior_zerr);
    if (std::abs(velocity_kms(best.z, fit.z[t])) > 1000) continue;
    const double pull = (best.z - fit.z[t]) / best.zerr;
    sum2 += pull * pull;
    count += 1;
    wider += best.zerr * kLightKms > 100;
  }
  EXPECT_NEAR(std::sqrt(sum2 / count), 1, 0.35);
  EXPECT_GT(wider, 1);
}

/// A likelihood that the steps of the scan resolve, just so: points are no bars of a histogram, and
/// add no width of their own.
TEST(Probability, AResolvedPeakIsAsWideAsItIs) {
  Fit fit(1, 0.25);
  Curve& galaxy = fit.curves[0];
  fit.curves[1].evidence = Array2D<double>(1, fit.curves[1].z.size(), -1e9);
  const std::size_t middle = galaxy.z.size() / 2;
  const double step = galaxy.z[middle + 1] - galaxy.z[middle], sigma = 0.6 * step;
  for (const double shift : {0.0, 0.25, 0.5}) {
    Candidate c = fit.found[0].front();
    c.curve = 0;
    c.z = galaxy.z[middle] + shift * step;
    for (std::size_t i = 0; i < galaxy.z.size(); ++i) {
      galaxy.evidence(0, i) = -0.5 * std::pow((galaxy.z[i] - c.z) / sigma, 2);
    }
    for (const double said : {1.0, 1.5}) {  // whatever chi2 alone made of it
      c.zerr = said * sigma;
      set_probabilities(0, fit.curves, {}, {}, {}, {&c, 1});
      EXPECT_NEAR(c.posterior_zerr, sigma, 0.02 * sigma) << shift << " " << said;
    }
  }
}

TEST(Probability, WhereNothingHasAnyTheErrorStays) {
  Fit fit(1, 0.25);
  for (Curve& curve : fit.curves)
    curve.evidence = Array2D<double>(1, curve.z.size(), -std::numeric_limits<double>::infinity());
  Candidate c = fit.found[0].front();
  c.posterior_zerr = 0;
  set_probabilities(0, fit.curves, {}, {}, {}, {&c, 1});
  EXPECT_EQ(c.posterior_zerr, c.zerr);
}

TEST(Probability, AMinimumIsOneCandidate) {  // also where a close look moves others into it
  const Fit fit(60, 0.25, "QSO");
  for (const auto& candidates : fit.found) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Candidate &a = candidates[i], &b = candidates[j];
        if (a.curve != b.curve) continue;
        EXPECT_GE(std::abs(velocity_kms(a.z, b.z)), a.least_separation_kms);
      }
    }
  }
}

TEST(Probability, ATemplateThatCoversNothingTakesNothingAway) {  // even if it is the first
  const Fit fit(1, 0.25);
  TemplateSet templates = fit.templates;
  templates.insert(templates.begin(), test::line_template(2, 5));
  templates[0].spectype = "QSO";
  templates[0].redshifts = {3, 3.1, 3.2};  // 6500 Angstrom at rest are 26000 there
  SerialExecutor executor;
  ScanOptions how;
  how.fit.evidence = WithEvidence::kYes;
  const auto curves = scan(fit.set, templates, how, executor);
  ASSERT_TRUE(curves[0].z.empty());
  RefineOptions options;
  options.probability.star = 1e-3;
  const auto found = refine(fit.set, curves, {}, options, executor);
  EXPECT_GT(found[0].front().probability, 0.1);
  EXPECT_EQ(found[0].front().probability, fit.found[0].front().probability);
  EXPECT_EQ(found[0].front().zerr, fit.found[0].front().zerr);
}

TEST(Probability, APriorOfTypesMovesIt) {
  Fit fit(1, 0.02);
  std::vector<Candidate> even = fit.found[0], stars = even;
  ProbabilityOptions options;
  set_probabilities(0, fit.curves, {}, options, {}, even);
  options.star = 1000;
  set_probabilities(0, fit.curves, {}, options, {}, stars);
  for (std::size_t k = 0; k < even.size(); ++k) {
    if (even[k].spectype == "STAR") {
      EXPECT_GT(stars[k].class_probability, even[k].class_probability);
    } else {
      EXPECT_LT(stars[k].class_probability, even[k].class_probability);
    }
  }
}

}  // namespace
}  // namespace fiberloom::redshift
