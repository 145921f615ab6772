// SPDX-License-Identifier: BSD-3-Clause
// What becomes of a bundle whose equations are not solved: it is said, and nothing wrong is passed
// on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/recipes/frame_steps.hpp"
#include "loom/base/error.hpp"
#include "tests/fiberloom/oracle/small_case.hpp"

namespace fiberloom {
namespace {

struct Outcome {
  ExtractResult result;
  std::vector<std::string> warnings;
};

oracle::SmallCase crosstalk_case() {
  oracle::SmallCaseKnobs knobs;
  knobs.line_snr = 100;
  oracle::SmallCase problem = oracle::make_small_case(oracle::with_crosstalk(knobs));
  problem.options.want_model = true;
  return problem;
}

Outcome extract_with(const oracle::SmallCase& problem, int most_iterations) {
  exact::Tuning tuning;
  tuning.most_iterations = most_iterations;
  Outcome run;
  Observer observer;
  observer.message = [&](LogLevel level, const std::string& text) {
    if (level == LogLevel::kWarning) run.warnings.push_back(text);
  };
  SerialExecutor executor;
  run.result = exact::extract(problem.ccd, problem.psf, problem.options, tuning, active_isa(),
                              executor, observer, nullptr);
  return run;
}

TEST(Convergence, OfAnOrdinaryBundleIsNotWorthAWord) {
  const Outcome run = extract_with(crosstalk_case(), 500);
  EXPECT_TRUE(run.warnings.empty());
  EXPECT_LE(run.result.bundles.front().solve_sigma, 1e-8);
}

TEST(Convergence, StoppedShortOfTheToleranceIsAWarningWithTheErrorReached) {
  const Outcome full = extract_with(crosstalk_case(), 500), run = extract_with(crosstalk_case(), 8);
  const BundleReport& report = run.result.bundles.front();
  ASSERT_GT(report.solve_sigma, 1e-4);
  ASSERT_LT(report.solve_sigma, 1.0);
  EXPECT_GE(report.bound_sigma, report.solve_sigma);
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_NE(run.warnings.front().find("fibres 0-4"), std::string::npos) << run.warnings.front();
  EXPECT_NE(run.warnings.front().find("after 8 iterations"), std::string::npos);
  double worst = 0;
  for (std::size_t i = 0; i < full.result.flux.size(); ++i) {
    worst = std::max(worst, std::abs(run.result.flux.data()[i] - full.result.flux.data()[i]) *
                                std::sqrt(full.result.ivar.data()[i]));
  }
  EXPECT_GT(worst, 0) << "the solve was not cut short";
  EXPECT_LE(worst, report.bound_sigma);
}

TEST(Convergence, FarFromASolutionLeavesNoInformation) {
  const oracle::SmallCase problem = crosstalk_case();
  const Outcome run = extract_with(problem, 0);
  const ExtractResult& r = run.result;
  ASSERT_FALSE(is_solution(r.bundles.front().solve_sigma));
  ASSERT_EQ(run.warnings.size(), 1U);
  EXPECT_NE(run.warnings.front().find("ALLBADPIX"), std::string::npos) << run.warnings.front();
  EXPECT_EQ(r.bundles.front().unconstrained, r.flux.size());
  const std::size_t middle = r.resolution.rows() / 2;
  for (std::size_t s = 0; s < r.flux.rows(); ++s) {
    for (std::size_t j = 0; j < r.flux.cols(); ++j) {
      ASSERT_EQ(r.flux(s, j), 0);
      ASSERT_EQ(r.ivar(s, j), 0);
      ASSERT_EQ(r.xflux(s, j), 0);
      ASSERT_EQ(r.mask(s, j) & kAllBadPix, kAllBadPix);
      for (std::size_t k = 0; k < r.resolution.rows(); ++k) {
        ASSERT_EQ(r.resolution(s, k, j), k == middle ? 1.0F : 0.0F);
      }
    }
  }
  for (std::size_t i = 0; i < r.model.size(); ++i) ASSERT_EQ(r.model.data()[i], 0.0F);
}

TEST(Convergence, OfNoBundleAtAllIsAnErrorOfTheRecipe) {
  PreparedFrame frame;
  frame.in.psf = std::make_shared<const PsfFile>();
  ExtractResult result;
  result.bundles.resize(2);
  result.bundles[0].solve_sigma = std::nan("");
  result.bundles[1].solve_sigma = 7;
  try {
    write_result({}, frame, std::move(result), nullptr);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kNumerical);
  }
}

TEST(Convergence, TwoFibresOnOneTraceAreNotSilentlyWrong) {
  // the PSF says that two fibres shine on the same pixels: nobody can tell their light apart
  oracle::SmallCaseKnobs knobs;
  knobs.pitch = 12;
  oracle::SmallCase problem = oracle::make_small_case(knobs);
  for (LegendreSeries* series : {&problem.psf.x, &problem.psf.y}) {
    for (std::size_t k = 0; k < series->coef.cols(); ++k) series->coef(1, k) = series->coef(0, k);
  }
  const Outcome run = extract_with(problem, 500);
  const ExtractResult& r = run.result;
  for (std::size_t i = 0; i < r.flux.size(); ++i) {
    ASSERT_TRUE(std::isfinite(r.flux.data()[i]) && std::isfinite(r.ivar.data()[i]));
  }
  double most = 0;
  for (std::size_t j = 0; j < r.flux.cols(); ++j) most = std::max(most, r.ivar(0, j));
  EXPECT_LT(most, 1e-2 * r.ivar(3, 50)) << "that much is known of the sum of both, not of one";
}

}  // namespace
}  // namespace fiberloom
