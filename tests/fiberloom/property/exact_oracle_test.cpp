// SPDX-License-Identifier: BSD-3-Clause
// The exact engine against a dense solution in extended precision: never further away than the
// bound it prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/recipes/frame_outputs.hpp"
#include "tests/fiberloom/oracle/dense_oracle.hpp"
#include "tests/fiberloom/oracle/small_case.hpp"

namespace fiberloom {
namespace {

using oracle::CaseEdges;
using oracle::Defect;
using oracle::SmallCaseKnobs;

struct Difference {
  double sigma = 0;       ///< flux, in units of its sigma
  double ivar = 0;        ///< relative
  double resolution = 0;  ///< rows inside the grid
  double chi2pix = 0, phi = 0;
  double model = 0;         ///< on pixels that were used, in units of their sigma
  double masked_model = 0;  ///< on the others, in units of the noise that they would have
  double residual = 0;      ///< against image - model of the oracle, 0 on masked pixels
  int modelled = 0;         ///< pixels compared
  int masked_apart = 0;
};

Difference compare(const ExtractResult& a, const ExtractResult& b) {
  Difference d;
  const std::size_t nwave = a.flux.cols(), nd = a.resolution.rows() / 2;
  for (std::size_t s = 0; s < a.flux.rows(); ++s) {
    for (std::size_t j = 0; j < nwave; ++j) {
      if ((a.ivar(s, j) == 0) != (b.ivar(s, j) == 0)) ++d.masked_apart;
      d.phi = std::max(d.phi, std::abs(a.pixmask_fraction(s, j) - b.pixmask_fraction(s, j)));
      if (b.ivar(s, j) == 0) continue;
      d.sigma = std::max(d.sigma, std::abs(a.flux(s, j) - b.flux(s, j)) * std::sqrt(b.ivar(s, j)));
      d.ivar = std::max(d.ivar, std::abs(a.ivar(s, j) / b.ivar(s, j) - 1));
      d.chi2pix =
          std::max(d.chi2pix, std::abs(a.chi2pix(s, j) - b.chi2pix(s, j)) / (1 + b.chi2pix(s, j)));
      for (std::size_t k = 0; k < a.resolution.rows(); ++k) {
        const auto row = static_cast<long>(j + k) - static_cast<long>(nd);
        if (row < 0 || row >= static_cast<long>(nwave) ||
            b.ivar(s, static_cast<std::size_t>(row)) == 0)
          continue;
        d.resolution =
            std::max(d.resolution,
                     static_cast<double>(std::abs(a.resolution(s, k, j) - b.resolution(s, k, j))));
      }
    }
  }
  return d;
}

/// Pixels under a spot of the grid. Rows that only guard bins reach have no whole model.
std::vector<char> under_the_grid(const PsfModel& psf, const std::vector<double>& wave) {
  const auto width = static_cast<std::size_t>(psf.npix_x);
  std::vector<char> under(static_cast<std::size_t>(psf.npix_y) * width, 0);
  for (std::size_t f = 0; f < psf.x.coef.rows(); ++f) {
    for (const double w : wave) {
      const int x0 = static_cast<int>(std::floor(psf.x(f, w) - psf.hsize_x + 0.5));
      const int y0 = static_cast<int>(std::floor(psf.y(f, w) - psf.hsize_y + 0.5));
      for (int y = std::max(y0, 0); y < std::min(y0 + psf.stamp_ny(), psf.npix_y); ++y) {
        for (int x = std::max(x0, 0); x < std::min(x0 + psf.stamp_nx(), psf.npix_x); ++x) {
          under[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)] = 1;
        }
      }
    }
  }
  return under;
}

/// Model against model, and the residual that follows from it against image - model; what float32
/// cannot hold is no difference.
void compare_models(const oracle::SmallCase& problem, const Array2D<float>& got,
                    const Array2D<float>& want, Difference& d) {
  const std::vector<char> under = under_the_grid(problem.psf, problem.options.wave);
  const Array2D<float> residual = residual_image(problem.ccd, got);
  for (std::size_t r = 0; r < want.rows(); ++r) {
    for (std::size_t c = 0; c < want.cols(); ++c) {
      if (!under[r * want.cols() + c]) continue;
      ++d.modelled;
      const double m = want(r, c), w = problem.ccd.ivar.at(r, c);
      const double rounding = 4 * 6e-8 * (1 + std::abs(m) + std::abs(problem.ccd.image.at(r, c)));
      const double sigma = w > 0 ? 1 / std::sqrt(w) : std::sqrt(9 + std::max(m, 0.0));
      const auto apart = [&](double a, double b) {
        return std::max(0.0, std::abs(a - b) - rounding) / sigma;
      };
      double& worst = w > 0 ? d.model : d.masked_model;
      worst = std::max(worst, apart(got(r, c), m));
      const double left = w > 0 ? problem.ccd.image.at(r, c) - m : 0.0;
      d.residual = std::max(d.residual, apart(residual(r, c), left));
    }
  }
}

struct Outcome {
  Difference difference;
  BundleReport report;
};

/// A problem and its dense solution, which takes far longer than ours.
struct Solved {
  oracle::SmallCase problem;
  ExtractResult want;
};

Solved solve_densely(const SmallCaseKnobs& knobs, bool decorrelate_fibers = false) {
  Solved solved{.problem = oracle::make_small_case(knobs), .want = {}};
  oracle::SmallCase& p = solved.problem;
  p.options.want_model = true;
  p.options.decorrelate_fibers = decorrelate_fibers;
  const int guard = exact::guard_grid(p.psf, p.options.wave).guard;
  solved.want = oracle::dense_oracle(p.ccd, p.psf, p.options, guard);
  return solved;
}

Outcome run(const Solved& solved, const exact::Tuning& tuning = {}) {
  const oracle::SmallCase& problem = solved.problem;
  const ExtractResult& want = solved.want;
  SerialExecutor executor;
  const ExtractResult got = exact::extract(problem.ccd, problem.psf, problem.options, tuning,
                                           active_isa(), executor, {}, nullptr);
  Outcome outcome{compare(got, want), got.bundles.front()};
  compare_models(problem, got.model, want.model, outcome.difference);
  const BundleReport& r = outcome.report;
  std::printf(
      "    error %.2e sigma, bound %.2e; ivar %.1e R %.1e chi2 %.1e; kappa %.1e band %d poles %d "
      "cg %d seam %.1e; model %.1e masked %.1e residual %.1e\n",
      outcome.difference.sigma, r.bound_sigma, outcome.difference.ivar,
      outcome.difference.resolution, outcome.difference.chi2pix, r.kappa, r.half_bandwidth, r.poles,
      r.cg_iterations, r.seam_sigma, outcome.difference.model, outcome.difference.masked_model,
      outcome.difference.residual);
  return outcome;
}

struct Case {
  std::string name;
  SmallCaseKnobs knobs;
  double usable_bound = 1e-3;
  bool tightly = false;  ///< a tight tolerance is tried as well
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const char* name, auto change) {
    SmallCaseKnobs knobs;
    knobs.nwave = 120;
    knobs.rows = 330;
    change(knobs);
    all.push_back({name, knobs});
  };
  const auto tightly = [&] { all.back().tightly = true; };
  add("clean", [](SmallCaseKnobs&) {});
  add("bright_lines", [](SmallCaseKnobs& k) { k.line_snr = 300; });
  tightly();
  add("crosstalk", [](SmallCaseKnobs& k) { k = oracle::with_crosstalk(k); });
  tightly();
  add("crosstalk_lines_cosmics", [](SmallCaseKnobs& k) {
    k.line_snr = 300;
    k.defects = {Defect::kCosmics};
    k = oracle::with_crosstalk(k);
  });
  add("dead_amplifier", [](SmallCaseKnobs& k) { k.defects = {Defect::kDeadAmplifier}; });
  add("dead_amplifier_lines", [](SmallCaseKnobs& k) {
    k.line_snr = 150;
    k.defects = {Defect::kDeadAmplifier};
  });
  tightly();
  add("dead_block", [](SmallCaseKnobs& k) { k.defects = {Defect::kDeadBlock}; });
  add("dead_columns_cosmics", [](SmallCaseKnobs& k) {
    k.defects = {Defect::kDeadColumns, Defect::kCosmics};
  });
  tightly();
  add("off_all_edges", [](SmallCaseKnobs& k) { k.edges = CaseEdges::kOffCcd; });
  all.back().usable_bound = 1e-2;  // 10 eps kappa, guard bins hanging over the edge
  add("step_1_2", [](SmallCaseKnobs& k) { k.step_aa = 1.2, k.nwave = 90; });
  tightly();
  add("step_0_5", [](SmallCaseKnobs& k) { k.step_aa = 0.5, k.sigma_y = 0.8, k.nwave = 100; });
  add("step_0_4", [](SmallCaseKnobs& k) { k.step_aa = 0.4, k.sigma_y = 0.7, k.nwave = 100; });
  all.back().usable_bound = 2;  // at kappa 2e10 the bound holds, but is a million times the error
  add("one_fiber", [](SmallCaseKnobs& k) { k.nfiber = 1; });
  return all;
}

class AgainstOracle : public testing::TestWithParam<Case> {};

TEST_P(AgainstOracle, StaysWithinTheBoundItPrints) {
  const Solved solved = solve_densely(GetParam().knobs);
  const Outcome o = run(solved);
  EXPECT_LE(o.difference.sigma, o.report.bound_sigma);
  EXPECT_LE(o.difference.ivar, 2 * o.report.bound_sigma + 1e-9);
  EXPECT_LE(o.difference.resolution, o.report.bound_sigma + 1e-7);  // kept as float32
  EXPECT_LE(o.difference.chi2pix, 2e-4);  // float32; worst where fluxes ring (0.4 A)
  EXPECT_LE(o.difference.phi, 1e-12);
  EXPECT_EQ(o.difference.masked_apart, 0);
  // made with float32 spots: worst where fluxes ring (0.4 A, 5e-4) and on masked pixels (6e-4)
  const double model_bound = 1e-3;
  EXPECT_GT(o.difference.modelled, 1000);
  EXPECT_LE(o.difference.model, model_bound);
  EXPECT_LE(o.difference.masked_model, model_bound);
  EXPECT_LE(o.difference.residual, model_bound);
  EXPECT_LE(o.report.bound_sigma, GetParam().usable_bound) << "the bound itself must stay useful";
  if (!GetParam().tightly) return;
  exact::Tuning tight;
  tight.tolerance_sigma = 1e-9;
  const Outcome t = run(solved, tight);
  EXPECT_LE(t.difference.sigma,
            std::min(t.report.bound_sigma, 1e-9 + 10 * 2.2e-16 * t.report.kappa));
}

INSTANTIATE_TEST_SUITE_P(Cases, AgainstOracle, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

class DecorrelatedFibers : public testing::TestWithParam<Case> {};

TEST_P(DecorrelatedFibers, StayWithinTheBoundTheyPrint) {
  const Solved solved = solve_densely(GetParam().knobs, true);
  const Outcome o = run(solved);
  EXPECT_LE(o.difference.sigma, o.report.bound_sigma);
  EXPECT_LE(o.difference.ivar, 2 * o.report.bound_sigma + 1e-9);
  EXPECT_LE(o.difference.resolution, o.report.bound_sigma + 1e-7);
  EXPECT_EQ(o.difference.masked_apart, 0);
  EXPECT_LE(o.report.bound_sigma, GetParam().usable_bound) << "the bound itself must stay useful";
}

std::vector<Case> decorrelated_cases() {
  std::vector<Case> all;
  const auto add = [&](const char* name, auto change) {
    SmallCaseKnobs knobs;  // the oracle takes the root of all unknowns at once: few of them
    knobs.nfiber = 3;
    knobs.nwave = 40;
    change(knobs);
    all.push_back({name, knobs});
  };
  add("clean_step_1_2", [](SmallCaseKnobs& k) { k.step_aa = 1.2; });
  add("crosstalk_lines_dead_block", [](SmallCaseKnobs& k) {
    k.line_snr = 300;
    k.defects = {Defect::kDeadBlock, Defect::kCosmics};
    k = oracle::with_crosstalk(k);
  });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, DecorrelatedFibers, testing::ValuesIn(decorrelated_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(DecorrelatedFibersToo, DifferFromFibresDecorrelatedAlone) {
  SmallCaseKnobs knobs;
  knobs.nfiber = 3;
  knobs.nwave = 40;
  knobs.step_aa = 1.2;
  const Solved solved = solve_densely(oracle::with_crosstalk(knobs), true);
  oracle::SmallCase alone = solved.problem;
  alone.options.decorrelate_fibers = false;
  SerialExecutor executor;
  const ExtractResult each = exact::extract(alone.ccd, alone.psf, alone.options, exact::Tuning{},
                                            active_isa(), executor, {}, nullptr);
  EXPECT_GT(compare(each, solved.want).ivar, 1e-3);
}

class CorrelatedFibers : public testing::TestWithParam<Case> {};

TEST_P(CorrelatedFibers, AreThoseOfTheDenseInverse) {
  oracle::SmallCase p = oracle::make_small_case(GetParam().knobs);
  p.options.fiber_correlation = true;
  p.options.ndiag = 15;
  const int guard = exact::guard_grid(p.psf, p.options.wave).guard;
  const ExtractResult want = oracle::dense_oracle(p.ccd, p.psf, p.options, guard);
  SerialExecutor executor;
  const ExtractResult got =
      exact::extract(p.ccd, p.psf, p.options, exact::Tuning{}, active_isa(), executor, {}, nullptr);
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < want.fiber_correlation.size(); ++i) {
    const double w = want.fiber_correlation.data()[i];
    // kept as float32
    const double apart = std::abs(got.fiber_correlation.data()[i] - w) - 6e-8 * std::abs(w);
    error = apart <= error ? error : apart;  // sees a NaN
    largest = std::max(largest, std::abs(w));
  }
  std::printf("    correlation up to %.3g, error %.2e\n", largest, error);
  EXPECT_LE(error, GetParam().usable_bound);
  EXPECT_GT(largest, 1e3 * GetParam().usable_bound);
}

std::vector<Case> correlated_cases() {
  std::vector<Case> all;
  const auto add = [&](const char* name, double bound, auto change) {
    SmallCaseKnobs knobs;
    knobs.nfiber = 3;
    knobs.nwave = 40;
    change(knobs);
    all.push_back({name, knobs, bound});
  };
  add("clean", 1e-8, [](SmallCaseKnobs&) {});
  add("crosstalk", 1e-8, [](SmallCaseKnobs& k) { k = oracle::with_crosstalk(k); });
  add("crosstalk_lines_dead_block", 1e-8, [](SmallCaseKnobs& k) {
    k.line_snr = 300;
    k.defects = {Defect::kDeadBlock, Defect::kCosmics};
    k = oracle::with_crosstalk(k);
  });
  add("crosstalk_step_1_2", 1e-8, [](SmallCaseKnobs& k) {
    k.step_aa = 1.2;
    k = oracle::with_crosstalk(k);
  });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, CorrelatedFibers, testing::ValuesIn(correlated_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(ErrorBound, FailsWhenTheSweepsAreLeftOut) {
  // a bound that held whatever one does would say nothing
  SmallCaseKnobs knobs;
  knobs.line_snr = 100;
  const Solved solved = solve_densely(oracle::with_crosstalk(knobs));
  for (const exact::Sweeps sweeps : {exact::Sweeps::kNone, exact::Sweeps::kLeftOnly}) {
    exact::Tuning tuning;
    tuning.sweeps = sweeps;
    const Outcome o = run(solved, tuning);
    EXPECT_GT(o.difference.sigma, o.report.bound_sigma);
  }
}

TEST(ErrorBound, FailsWhenTheBandIsCutTooShort) {
  SmallCaseKnobs knobs = oracle::with_crosstalk({});
  knobs.line_snr = 300;
  exact::Tuning tuning;
  tuning.most_band = 8;
  const Outcome o = run(solve_densely(knobs), tuning);
  EXPECT_LE(o.difference.sigma, o.report.bound_sigma);
  EXPECT_GT(o.report.bound_sigma, exact::Tuning{}.tolerance_sigma)
      << "and says that the tolerance was missed";
}

}  // namespace
}  // namespace fiberloom
