// SPDX-License-Identifier: BSD-3-Clause
// The shared least squares against the same equations written out densely, and against truth.
#include "fiberloom/calibrate/deconvolution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/calibrate/test_fibers.hpp"
#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"
#include "loom/linalg/test_dense.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::calibrate {
namespace {

using loom::test::Dense;
using test::Fibers;

/// All unknowns, s then b, with their covariance: Gauss-Jordan.
struct DenseSolution {
  std::vector<double> value;
  Dense covariance{0};
};

DenseSolution dense_solution(const Fibers& f, std::size_t nborder) {
  const std::size_t n = f.n, all = n + nborder;
  Dense a(all);
  std::vector<double> y(all, 0.0);
  for (const Sighting& s : f.sightings()) {
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> row(all, 0.0);
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t k = i + s.resolution.half() - j;
        if (k >= s.resolution.ndiag) continue;
        row[j] = static_cast<double>(s.resolution(k, j)) * (s.gain.empty() ? 1 : s.gain[i]) *
                 (s.shape.empty() ? 1 : s.shape[j]);
      }
      for (std::size_t m = 0; m < nborder; ++m) row[n + m] = s.border[m * n + i];
      for (std::size_t p = 0; p < all; ++p) {
        y[p] += s.weight[i] * row[p] * s.data[i];
        for (std::size_t q = 0; q < all; ++q) a(p, q) += s.weight[i] * row[p] * row[q];
      }
    }
  }
  DenseSolution out;
  out.covariance = loom::test::inverse(a);
  out.value = loom::test::times(out.covariance, y);
  return out;
}

void expect_equal(const Fibers& f, std::size_t nborder) {
  SerialExecutor serial;
  const Deconvolved got =
      solve(normal_equations(f.n, nborder, f.sightings(), serial), {}, WithCovariance::kYes);
  const DenseSolution want = dense_solution(f, nborder);
  ASSERT_EQ(got.value.size(), f.n);
  ASSERT_EQ(got.border.size(), nborder);
  for (std::size_t j = 0; j < f.n; ++j) {
    const double sigma = std::sqrt(want.covariance(j, j));
    EXPECT_NEAR(got.value[j], want.value[j], 1e-10 * sigma) << j;
  }
  for (std::size_t m = 0; m < nborder; ++m) {
    const double sigma = std::sqrt(want.covariance(f.n + m, f.n + m));
    EXPECT_NEAR(got.border[m], want.value[f.n + m], 1e-10 * sigma);
    for (std::size_t o = 0; o < nborder; ++o) {
      const double variance = want.covariance(f.n + m, f.n + o);
      EXPECT_NEAR(got.border_covariance(m, o), variance, 1e-9 * std::abs(variance) + 1e-15);
    }
  }
  const Banded<const float> r = f.resolution(0);
  const std::vector<double> variance = variance_through(r, got.covariance);
  for (std::size_t i = 0; i < f.n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < f.n; ++j) {
      for (std::size_t k = 0; k < f.n; ++k) {
        const std::size_t a = i + r.half() - j, b = i + r.half() - k;
        if (a >= r.ndiag || b >= r.ndiag) continue;
        sum += static_cast<double>(r(a, j)) * want.covariance(j, k) * static_cast<double>(r(b, k));
      }
    }
    EXPECT_NEAR(variance[i], sum, 1e-9 * sum) << i;
  }
}

TEST(Deconvolution, IsTheDenseLeastSquares) { expect_equal(Fibers(60, 4, {}), 0); }

TEST(Deconvolution, TakesGainOfRowsAndShapeOfColumns) {
  expect_equal(Fibers(60, 4, {.gain = true, .shape = true}), 0);
}

TEST(Deconvolution, TakesABorderByItsSchurComplement) {
  expect_equal(Fibers(60, 4, {.gain = true, .nborder = 3}), 3);
}

TEST(Deconvolution, CrossesTheBlocksOfItsSums) { expect_equal(Fibers(150, 2, {.nborder = 1}), 1); }

TEST(Deconvolution, LeavesOutBinsThatNobodySees) {
  Fibers f(60, 3, {});
  for (std::size_t s = 0; s < 3; ++s) f.hide(s, 20, 35);  // 11 diagonals: 25 ... 29 are unseen
  SerialExecutor serial;
  const Deconvolved got =
      solve(normal_equations(f.n, 0, f.sightings(), serial), {}, WithCovariance::kYes);
  for (std::size_t j = 0; j < f.n; ++j) {
    const bool seen = j < 25 || j > 29;
    EXPECT_EQ(got.known[j] != 0, seen) << j;
    if (seen) continue;
    EXPECT_EQ(got.value[j], 0) << j;
    EXPECT_EQ(got.covariance.band(0, j), 0) << j;
  }
}

TEST(Deconvolution, HasErrorsThatTruthConfirms) {
  double sum = 0, squares = 0;
  std::size_t count = 0;
  SerialExecutor serial;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Fibers f(80, 5, {.gain = true, .nborder = 1, .seed = seed});
    const Deconvolved got =
        solve(normal_equations(f.n, 1, f.sightings(), serial), {}, WithCovariance::kYes);
    const std::vector<double> variance = variance_through(f.resolution(0), got.covariance);
    std::vector<double> error(f.n), seen(f.n);
    for (std::size_t j = 0; j < f.n; ++j) error[j] = got.value[j] - f.truth[j];
    multiply(f.resolution(0), std::span<const double>(error), std::span<double>(seen));
    for (std::size_t i = 0; i < f.n; i += 8) {  // neighbours share their errors
      const double pull = seen[i] / std::sqrt(variance[i]);
      sum += pull;
      squares += pull * pull;
      ++count;
    }
  }
  const auto n = static_cast<double>(count);
  EXPECT_NEAR(sum / n, 0, 4 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 4 * std::sqrt(2 / n));
}

TEST(Deconvolution, GivesTheSameBytesInAnyOrderOfItsBlocks) {
  const Fibers f(700, 3, {.gain = true, .nborder = 2});
  SerialExecutor serial;
  TestThreads backwards(3);
  const NormalEquations a = normal_equations(f.n, 2, f.sightings(), serial);
  const NormalEquations b = normal_equations(f.n, 2, f.sightings(), backwards);
  EXPECT_TRUE(std::equal(a.a.data(), a.a.data() + a.a.size(), b.a.data()));
  EXPECT_TRUE(std::equal(a.c.data(), a.c.data() + a.c.size(), b.c.data()));
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.y_of_b, b.y_of_b);
}

TEST(Deconvolution, RefusesFibersOfAnotherShape) {
  const Fibers f(60, 2, {});
  SerialExecutor serial;
  EXPECT_EQ(loom::test::status_of([&] { (void)normal_equations(59, 0, f.sightings(), serial); }),
            Status::kInternal);
}

TEST(Deconvolution, SaysSoWhenItsWeightsAreNoNumbers) {
  Fibers f(60, 2, {});
  f.weight[0][30] = std::nan("");
  SerialExecutor serial;
  EXPECT_EQ(loom::test::status_of([&] {
              (void)solve(normal_equations(60, 0, f.sightings(), serial), {}, WithCovariance::kNo);
            }),
            Status::kNumerical);
}

}  // namespace
}  // namespace fiberloom::calibrate
