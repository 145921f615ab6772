// SPDX-License-Identifier: BSD-3-Clause
// Candidates of spectra whose redshift is known: by our rules and by the peer's.
#include "fiberloom/redshift/refine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fiberloom/redshift/redrock.hpp"
#include "fiberloom/redshift/test_spectra.hpp"

namespace fiberloom::redshift {
namespace {

using test::Target;

constexpr double kTrueZ = 0.0523;

struct Found {
  TargetSet set;
  std::vector<std::vector<Candidate>> candidates;
};

Found find(const TemplateSet& templates, std::span<const Target> targets, ScanMode mode,
           std::span<const Prior> priors = {}) {
  Found out;
  out.set = test::prepared(targets);
  SerialExecutor executor;
  const auto curves = scan(out.set, templates, {.mode = mode}, executor);
  out.candidates = refine(out.set, curves, priors, {}, executor);
  return out;
}

std::vector<Target> sample(const Template& t, std::size_t n, double ivar) {
  std::vector<Target> targets;
  for (std::size_t i = 0; i < n; ++i) {
    targets.push_back(test::make_target(t, std::vector<double>{1, 1, 0.4},
                                        kTrueZ + 1e-5 * static_cast<double>(i), ivar, i,
                                        1 + 0.02 * static_cast<double>(i % 10)));
  }
  return targets;
}

TEST(Refine, FindsTheTruthWithPullsOfWidthOne) {
  const TemplateSet templates{test::line_template()};
  constexpr std::size_t kTargets = 150;
  const std::vector<Target> targets = sample(templates[0], kTargets, 4);
  for (const ScanMode mode : {ScanMode::kExact, ScanMode::kFast}) {
    const Found found = find(templates, targets, mode);
    double sum = 0, sum2 = 0;
    for (std::size_t i = 0; i < kTargets; ++i) {
      const Candidate& best = found.candidates[i][0];
      ASSERT_EQ(best.zwarn, 0U) << i;
      const double pull = (best.z - kTrueZ - 1e-5 * static_cast<double>(i)) / best.zerr;
      ASSERT_LT(std::abs(pull), 4.5);
      sum += pull, sum2 += pull * pull;
    }
    EXPECT_LT(std::abs(sum / kTargets), 0.25);         // 3 sigma of a mean of 150
    EXPECT_NEAR(std::sqrt(sum2 / kTargets), 1, 0.18);  // 3 sigma of their width
  }
}

TEST(Refine, FastNamesWhatExactNamesToTheLastDigits) {
  const TemplateSet templates{test::line_template(3), test::line_template(4, 5)};
  TemplateSet named = templates;
  named[1].spectype = "QSO";
  const std::vector<Target> targets = sample(named[0], 20, 0.3);
  const Found exact = find(named, targets, ScanMode::kExact);
  const Found fast = find(named, targets, ScanMode::kFast);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Candidate &a = exact.candidates[i][0], &b = fast.candidates[i][0];
    EXPECT_EQ(a.spectype, b.spectype);
    EXPECT_LT(std::abs(velocity_kms(a.z, b.z)), 0.1);
    EXPECT_NEAR(a.chi2, b.chi2, 1e-3);
  }
}

TEST(Refine, FindsTheValleyBesideTheLowestPointOfARoundedScan) {
  TemplateSet templates{test::line_template()};
  templates[0].spectype = "STAR";
  templates[0].redshifts.clear();
  for (int i = -20; i <= 20; ++i) templates[0].redshifts.push_back(kTrueZ + 2e-7 * i);
  const std::vector<Target> targets = sample(templates[0], 1, 4e4);
  const TargetSet set = test::prepared(targets);
  SerialExecutor executor;
  std::vector<Curve> curves = scan(set, templates, {.mode = ScanMode::kExact}, executor);
  const Candidate expected = refine(set, curves, {}, {}, executor)[0][0];
  ASSERT_EQ(expected.zwarn, 0U);
  const std::vector<double>& z = curves[0].z;
  double* const chi2 = curves[0].chi2.row(0);
  const auto at = std::min_element(chi2, chi2 + z.size()) - chi2;
  const std::ptrdiff_t beside = expected.z < z[static_cast<std::size_t>(at)] ? at + 1 : at - 1;
  const double rounding = 1e-7 * set.targets[0].weight_flux2;
  ASSERT_LT(chi2[beside] - chi2[at], rounding);
  chi2[beside] = chi2[at] - 0.1 * rounding;
  const Candidate found = refine(set, curves, {}, {}, executor)[0][0];
  EXPECT_EQ(found.zwarn, 0U);
  EXPECT_NEAR(found.z, expected.z, 0.01 * expected.zerr);
}

TEST(Refine, AMinimumIsTheSameFromWhereverItIsClosedIn) {
  const TemplateSet templates{test::line_template()};
  const std::vector<Target> targets = sample(templates[0], 40, 300);
  const TargetSet set = test::prepared(targets);
  constexpr double kKms = (1 + kTrueZ) / kLightKms;
  std::vector<Prior> priors;  // as narrow as the last steps: chi2 is lopsided and no parabola
  for (std::size_t i = 0; i < targets.size(); ++i) {
    priors.push_back(
        {Prior::Shape::kLorentzian, kTrueZ + 1e-5 * static_cast<double>(i) + 3 * kKms, 3 * kKms});
  }
  SerialExecutor executor;
  std::vector<Curve> curves = scan(set, templates, {.mode = ScanMode::kExact}, executor);
  const auto expected = refine(set, curves, priors, {}, executor);
  for (std::size_t i = 0; i < targets.size(); ++i) {  // as if its neighbours were as low
    double* const chi2 = curves[0].chi2.row(i);
    double* const lowest = std::min_element(chi2, chi2 + curves[0].z.size());
    lowest[-1] = lowest[1] = std::nextafter(*lowest, HUGE_VAL);
  }
  const auto moved = refine(set, curves, priors, {}, executor);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Candidate &a = expected[i][0], &b = moved[i][0];
    EXPECT_LT(std::abs(velocity_kms(a.z, b.z)),
              std::max(0.1, 0.01 * kLightKms * a.zerr / (1 + a.z)))
        << i;
  }
}

TEST(Refine, RedshiftChi2CoefficientsAndErrorBelongTogether) {
  const TemplateSet templates{test::line_template()};
  const std::vector<Target> targets = sample(templates[0], 5, 4);
  const Found found = find(templates, targets, ScanMode::kFast);
  const Fitter fitter(found.set, templates[0], scan_kernels(active_isa()));
  std::vector<double> pack(fitter.sampler().pack_size());
  PackFit fit;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Candidate& c = found.candidates[i][0];
    const auto at = [&](double z) {
      fitter.fit(found.set.targets[i], {&z, 1}, pack, fit);
      return fit.chi2[0] + fit.penalty[0];
    };
    EXPECT_EQ(at(c.z), c.chi2);
    for (std::size_t a = 0; a < 3; ++a) EXPECT_EQ(c.coefficients[a], fit.coefficient(a, 0));
    for (const double kms : {-0.1, 0.1}) {
      EXPECT_GE(at(c.z + kms / kLightKms * (1 + c.z)), c.chi2 - 1e-3);
    }
    // chi2 rises by 1 at the error's distance, on the mean of both sides
    EXPECT_NEAR(0.5 * (at(c.z + c.zerr) + at(c.z - c.zerr)) - c.chi2, 1, 0.03);
  }
}

TEST(Refine, APriorCountsToTheEnd) {
  const TemplateSet templates{test::line_template()};
  const std::vector<Target> targets = sample(templates[0], 1, 4);
  const Found plain = find(templates, targets, ScanMode::kFast);
  const double z = plain.candidates[0][0].z, error = plain.candidates[0][0].zerr;
  const std::vector<Prior> priors{{Prior::Shape::kGaussian, z + 2 * error, error}};
  const Found pulled = find(templates, targets, ScanMode::kFast, priors);
  EXPECT_NEAR(pulled.candidates[0][0].z, z + error, 0.05 * error);
  EXPECT_NEAR(pulled.candidates[0][0].zerr, error / std::sqrt(2), 0.03 * error);
  EXPECT_NEAR(pulled.candidates[0][0].chi2, plain.candidates[0][0].chi2 + 2, 0.1);
  const std::vector<Prior> hat{{Prior::Shape::kTopHat, 0.1, 0.02}};
  const Found elsewhere = find(templates, targets, ScanMode::kFast, hat);
  for (const Candidate& c : elsewhere.candidates[0]) EXPECT_LE(std::abs(c.z - 0.1), 0.01);
}

TEST(Refine, AMinimumAtTheEndOfTheScanIsMarked) {
  Template t = test::line_template();
  std::erase_if(t.redshifts, [](double z) { return z > kTrueZ - 0.0003; });
  const std::vector<Target> targets = sample(t, 1, 4);
  const Found found = find({t}, targets, ScanMode::kExact);
  bool marked = false;
  for (const Candidate& c : found.candidates[0]) {
    marked |= c.z > kTrueZ - 0.002 && (c.zwarn & zwarn::kFitLimit) != 0;
  }
  EXPECT_TRUE(marked);
}

TEST(Refine, ATargetWithoutDataHasARow) {
  const TemplateSet templates{test::line_template()};
  std::vector<Target> targets = sample(templates[0], 2, 4);
  for (test::Spectrum& s : targets[0].spectra) std::fill(s.ivar.begin(), s.ivar.end(), 0.0);
  for (const ScanMode mode : {ScanMode::kExact, ScanMode::kFast}) {
    const Found found = find(templates, targets, mode);
    ASSERT_EQ(found.candidates[0].size(), 1U);
    EXPECT_EQ(found.candidates[0][0].zwarn, zwarn::kNoData | zwarn::kLittleCoverage);
    EXPECT_EQ(found.candidates[0][0].z, 0);
    EXPECT_EQ(found.candidates[1][0].zwarn, 0U);
  }
}

TEST(Refine, ATargetWhosePriorLeavesNoRedshiftHasARow) {
  const TemplateSet templates{test::line_template()};
  const std::vector<Target> targets = sample(templates[0], 1, 4);
  const std::vector<Prior> hat{{Prior::Shape::kTopHat, 7, 0.1}};
  const TargetSet set = test::prepared(targets);
  SerialExecutor executor;
  const auto curves = scan(set, templates, {}, executor);
  for (const auto& found :
       {refine(set, curves, hat, {}, executor), find_redrock(set, curves, hat, {}, executor)}) {
    ASSERT_EQ(found[0].size(), 1U);
    EXPECT_EQ(found[0][0].zwarn, zwarn::kFitLimit | zwarn::kBadMinimum);
    EXPECT_EQ(found[0][0].chi2, kHugeChi2);
  }
}

/// A galaxy that is all [OII], of any ratio: nothing but the weak line says which of the two is
/// which.
Template doublet_template() {
  Template t;
  t.spectype = "GALAXY";
  constexpr std::size_t kPoints = 20001;
  constexpr double kLine[] = {3727.09, 3729.88}, kSigma = 0.6;
  t.flux = Array2D<double>(3, kPoints, 1.0);
  for (std::size_t k = 0; k < kPoints; ++k) {
    const double wave = 2500 + 0.2 * static_cast<double>(k);
    t.wave.push_back(wave);
    for (const std::size_t line : {0U, 1U}) {
      t.flux(1 + line, k) = std::exp(-0.5 * std::pow((wave - kLine[line]) / kSigma, 2));
    }
  }
  for (double u = 0; u < 0.044; u += 0.0003) t.redshifts.push_back(std::pow(10, 0.036 + u) - 1);
  return t;
}

/// Sure to 5 km/s, and by 200 km/s wrong, where one line of the doublet lies on the other.
TEST(Refine, TheOtherLineOfADoubletIsLookedAt) {
  const TemplateSet templates{doublet_template()};
  constexpr std::size_t kTargets = 48;
  const Template& t = templates[0];
  std::vector<Target> targets;
  std::vector<double> z;
  for (std::size_t i = 0; i < kTargets; ++i) {  // at all places between two steps of the scan
    z.push_back(t.redshifts[60] +
                (t.redshifts[63] - t.redshifts[60]) * static_cast<double>(i) / kTargets);
    targets.push_back(test::make_target(t, std::vector<double>{0.1, 15, 70}, z.back(), 1, 300 + i));
  }
  const TargetSet set = test::prepared(targets);
  SerialExecutor executor;
  ScanOptions how;
  how.fit.evidence = WithEvidence::kYes;
  const auto curves = scan(set, templates, how, executor);
  const auto found = refine(set, curves, {}, {}, executor);
  for (std::size_t i = 0; i < kTargets; ++i) {
    const Candidate& best = found[i].front();
    EXPECT_LT(std::abs(best.z - z[i]), 5 * best.zerr) << i;
  }
}

TEST(Redrock, FindsTheTruthByTheParabola) {
  const TemplateSet templates{test::line_template()};
  const std::vector<Target> targets = sample(templates[0], 10, 100);
  const TargetSet set = test::prepared(targets, redrock_rules());
  SerialExecutor executor;
  const auto curves = scan(set, templates, redrock_scan(), executor);
  const auto found = find_redrock(set, curves, {}, {}, executor);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Candidate& best = found[i][0];
    EXPECT_EQ(best.zwarn, 0U);
    EXPECT_NEAR(best.z, kTrueZ + 1e-5 * static_cast<double>(i), 4 * best.zerr + 1e-5);
    ASSERT_EQ(best.fine_z.size(), 15U);
    EXPECT_EQ(found[i].size(), 3U);
    EXPECT_GT(best.delta_chi2, 100);
    // the parabola's minimum lies below all points of the fine scan
    for (const double chi2 : best.fine_chi2) EXPECT_GT(chi2, best.chi2 - 1e-9);
  }
}

TEST(Redrock, APriorActsOnTheCoarseScanAlone) {
  const TemplateSet templates{test::line_template()};
  const std::vector<Target> targets = sample(templates[0], 1, 4);
  const TargetSet set = test::prepared(targets, redrock_rules());
  SerialExecutor executor;
  const auto curves = scan(set, templates, redrock_scan(), executor);
  const auto plain = find_redrock(set, curves, {}, {}, executor);
  const std::vector<Prior> priors{{Prior::Shape::kGaussian, kTrueZ + 0.01, 0.02}};
  const auto with = find_redrock(set, curves, priors, {}, executor);
  EXPECT_EQ(with[0][0].chi2, plain[0][0].chi2);
  const std::vector<Prior> hat{{Prior::Shape::kTopHat, 0.12, 0.02}};
  const auto inside = find_redrock(set, curves, hat, {}, executor);
  for (const Candidate& c : inside[0]) {
    EXPECT_LT(std::abs(c.z - 0.12), 0.011);
  }
}

}  // namespace
}  // namespace fiberloom::redshift
