// SPDX-License-Identifier: BSD-3-Clause
// N p and N^-1 y of a bundle against dense arithmetic.
#include "fiberloom/extract/exact/solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fiberloom/extract/exact/test_bundle.hpp"

namespace fiberloom::exact {
namespace {

test::SmallPsf fibers(double pitch, int count) {
  test::SmallPsf o;
  o.pitch = pitch;
  o.nfiber = count;
  return o;
}

struct Solvable : TestBundle {
  explicit Solvable(double pitch, int count = 5)
      : TestBundle(test::make_psf(fibers(pitch, count)), test::make_grid(30, 0.9)) {
    assemble_equations();
    add_prior(normal(), 0.0, 0.0);
  }
};

SolveReport solve(TestBundle& b, double tolerance, int most_iterations = 500,
                  const Observer* observer = nullptr) {
  return solve_bundle(b.normal(), b.banded(), b.pixel(), tolerance, most_iterations, observer,
                      b.work.solve);
}

TEST(Apply, IsTheDenseProductOnEveryLevel) {
  for (const double pitch : {8.0, 5.0}) {  // with next neighbours, with second ones
    Solvable b(pitch);
    ASSERT_EQ(b.geometry.reach, pitch == 8.0 ? 1 : 2);
    std::vector<double> x(b.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.7 * static_cast<double>(i));
    const std::vector<double> p = b.spread(x), want = test::times(b.dense_of_normal(), x);
    for (const Isa isa : available_isas()) {
      std::vector<double> q(p.size(), 0.0);
      apply(b.normal(), pixel_kernels(isa), {0, 1}, Terms::kAll, p.data(), q.data());
      EXPECT_LT(largest_difference(b.gather(q.data()), want), 1e-13) << isa_name(isa);
    }
  }
}

TEST(SolveBundle, IsTheDenseSolutionWithinTheErrorThatItReports) {
  Solvable b(5);
  const test::Dense inverse = test::inverse(b.dense_of_normal());
  const std::vector<double> want = test::times(inverse, b.gather(b.normal().rhs_.data()));
  double before = HUGE_VAL;
  for (const double tolerance : {1e-2, 1e-5, 1e-10}) {
    const SolveReport report = solve(b, tolerance);
    EXPECT_LE(report.error_sigma, tolerance);
    EXPECT_GT(report.iterations, 0);
    const std::vector<double> got = b.gather(b.work.solve.x.data());
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, std::abs(got[i] - want[i]) / std::sqrt(inverse(i, i)));
    // M is not N: the estimate is off by their couplings
    EXPECT_LE(worst, 1.5 * report.error_sigma + 1e-11) << tolerance;
    EXPECT_LT(worst, before);
    before = worst;
  }
}

TEST(SolveBundle, BeginsWithEachFibreByItself) {
  Solvable b(8);
  const test::Dense n = b.dense_of_normal();
  const SolveReport report = solve(b, 0.0, 0);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_GT(report.error_sigma, 1e-6);
  const std::vector<double> x = b.gather(b.work.solve.x.data()),
                            y = b.gather(b.normal().rhs_.data());
  const test::Dense own = test::inverse(test::block(n, 2 * b.nbin(), b.nbin()));
  const auto part = [&](const std::vector<double>& v) {
    return std::vector<double>(v.begin() + static_cast<long>(2 * b.nbin()),
                               v.begin() + static_cast<long>(3 * b.nbin()));
  };
  EXPECT_LT(largest_difference(part(x), test::times(own, part(y))), 1e-8);
}

TEST(SolveBundle, LeavesNothingToSolveForInTheFibresBetween) {
  Solvable b(8);
  solve(b, 0.0, 0);
  const std::vector<double> y = b.gather(b.normal().rhs_.data()),
                            got = test::times(b.dense_of_normal(), b.gather(b.work.solve.x.data()));
  const auto left = [&](std::size_t fiber) {
    double worst = 0;
    for (std::size_t i = fiber * b.nbin(); i < (fiber + 1) * b.nbin(); ++i)
      worst = std::max(worst, std::abs(y[i] - got[i]) / std::abs(y[i]));
    return worst;
  };
  for (const std::size_t between : {1U, 3U}) EXPECT_LT(left(between), 1e-12);
  for (const std::size_t iterated : {0U, 2U, 4U}) EXPECT_GT(left(iterated), 1e-6);
}

TEST(SolveBundle, SolvesForAnyNumberOfFibres) {
  for (const double pitch : {8.0, 5.0}) {
    for (const int count : {1, 2, 3, 18}) {  // 18: more than a pack of each kind
      Solvable b(pitch, count);
      const std::vector<double> want =
          test::times(test::inverse(b.dense_of_normal()), b.gather(b.normal().rhs_.data()));
      EXPECT_LT(solve(b, 1e-10).error_sigma, 1e-10);
      double most = 0;
      for (const double x : want) most = std::max(most, std::abs(x));
      EXPECT_LT(largest_difference(b.gather(b.work.solve.x.data()), want), 1e-10 * most)
          << count << " at " << pitch;
    }
  }
}

TEST(SolveBundle, EndsWhenItNoLongerComesNearer) {
  Solvable b(5);
  const SolveReport report = solve(b, 0.0);
  EXPECT_LT(report.iterations, 100);
  EXPECT_LT(report.error_sigma, 1e-10);
}

TEST(SolveBundle, OfWhatIsNotPositiveDefiniteOrNoNumberIsNoSolutionAndSaysSo) {
  Solvable negative(5);
  for (GrowBuffer<double>* part : {&negative.normal().own_, &negative.normal().cross_}) {
    for (std::size_t i = 0; i < part->size(); ++i) (*part)[i] = -(*part)[i];
  }
  EXPECT_FALSE(is_solution(solve(negative, 1e-8).error_sigma));
  Solvable none(5);
  none.normal().own(1, 0)[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_solution(solve(none, 1e-8).error_sigma));
}

TEST(SolveBundle, HearsAStop) {
  Solvable b(5);
  Observer observer;
  observer.stop_requested = [] { return true; };
  EXPECT_THROW((void)solve(b, 1e-12, 500, &observer), Error);
}

}  // namespace
}  // namespace fiberloom::exact
