// SPDX-License-Identifier: BSD-3-Clause
// Bounded least squares: the conditions that mark the minimum, and all active sets tried one after
// the other.
#include "loom/linalg/bounded.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/rng.hpp"

namespace loom {
namespace {

constexpr double kInf = HUGE_VAL;

struct Case {
  Array2D<double> m;
  std::vector<double> y, lower, upper;
};

/// M = A^T A of a random A with more rows than columns; `alike`: columns that differ little.
Case random_case(std::size_t n, std::uint64_t seed, double alike) {
  const CounterRng rng(seed, 7);
  const std::size_t rows = 3 * n;
  Array2D<double> a(rows, n);
  std::vector<double> f(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const double shared = rng.normal(100000 + r);
    for (std::size_t c = 0; c < n; ++c) a(r, c) = rng.normal(r * n + c) + alike * shared;
    f[r] = rng.normal(200000 + r);
  }
  Case out{Array2D<double>(n, n, 0.0), std::vector<double>(n, 0.0), std::vector<double>(n, 0.0),
           std::vector<double>(n, kInf)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      out.y[i] += a(r, i) * f[r];
      for (std::size_t j = 0; j < n; ++j) out.m(i, j) += a(r, i) * a(r, j);
    }
  }
  return out;
}

/// Inside: gradient 0. At the lower bound: it does not push up. At the upper: not down.
void expect_kkt(const Case& k, const BoundedSolution& s) {
  ASSERT_TRUE(s.converged);
  for (std::size_t i = 0; i < k.y.size(); ++i) {
    double gradient = k.y[i], size = std::abs(k.y[i]);
    for (std::size_t j = 0; j < k.y.size(); ++j) {
      gradient -= k.m(i, j) * s.c[j];
      size += std::abs(k.m(i, j) * s.c[j]);
    }
    const double limit = 1e-11 * size;
    EXPECT_GE(s.c[i], k.lower[i]);
    EXPECT_LE(s.c[i], k.upper[i]);
    EXPECT_TRUE(s.c[i] == k.lower[i] || gradient >= -limit) << i << ": " << gradient;
    EXPECT_TRUE(s.c[i] == k.upper[i] || gradient <= limit) << i << ": " << gradient;
  }
}

double gain_of(const Case& k, const std::vector<double>& c) {
  double gain = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    double mc = 0;
    for (std::size_t j = 0; j < c.size(); ++j) mc += k.m(i, j) * c[j];
    gain += c[i] * (2 * k.y[i] - mc);
  }
  return gain;
}

/// Gauss elimination with pivots of the equations of `set`.
std::vector<double> solve_subset(const Case& k, unsigned set) {
  std::vector<std::size_t> in;
  for (std::size_t i = 0; i < k.y.size(); ++i) {
    if ((set >> i & 1U) != 0) in.push_back(i);
  }
  const std::size_t n = in.size();
  Array2D<double> a(n, n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a(i, j) = k.m(in[i], in[j]);
    a(i, n) = k.y[in[i]];
  }
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t big = p;
    for (std::size_t r = p; r < n; ++r) big = std::abs(a(r, p)) > std::abs(a(big, p)) ? r : big;
    for (std::size_t c = 0; c <= n; ++c) std::swap(a(p, c), a(big, c));
    for (std::size_t r = 0; r < n; ++r) {
      const double factor = r == p ? 0 : a(r, p) / a(p, p);
      for (std::size_t c = 0; c <= n; ++c) a(r, c) -= factor * a(p, c);
    }
  }
  std::vector<double> out(k.y.size(), 0.0);
  for (std::size_t i = 0; i < n; ++i) out[in[i]] = a(i, n) / a(i, i);
  return out;
}

TEST(BoundedLeastSquares, NonNegativeIsTheBestOfAllSubsets) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case k = random_case(6, seed, seed % 3 == 0 ? 10 : 0.5);
    double best = 0;
    for (unsigned set = 1; set < 64; ++set) {
      const std::vector<double> c = solve_subset(k, set);
      bool feasible = true;
      for (const double v : c) feasible = feasible && v >= 0;
      if (feasible) best = std::max(best, gain_of(k, c));
    }
    const BoundedSolution s = bounded_least_squares(k.m.view(), k.y, k.lower, k.upper);
    SCOPED_TRACE(seed);
    expect_kkt(k, s);
    EXPECT_NEAR(s.gain, best, 1e-9 * (1 + best));
  }
}

TEST(BoundedLeastSquares, MeetsTheConditionsWithBoundsOnBothSidesAndNone) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Case k = random_case(10, seed, 1);
    for (std::size_t i = 0; i < 10; ++i) {
      k.lower[i] = i % 3 == 0 ? -kInf : i % 3 == 1 ? 0 : -0.05;
      k.upper[i] = i % 2 == 0 ? kInf : 0.1;
    }
    SCOPED_TRACE(seed);
    expect_kkt(k, bounded_least_squares(k.m.view(), k.y, k.lower, k.upper));
  }
}

TEST(BoundedLeastSquares, WithoutBoundsIsThePlainSolution) {
  Case k = random_case(5, 3, 0.5);
  std::fill(k.lower.begin(), k.lower.end(), -kInf);
  const BoundedSolution s = bounded_least_squares(k.m.view(), k.y, k.lower, k.upper);
  const std::vector<double> c = solve_subset(k, 31);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(s.c[i], c[i], 1e-12);
}

TEST(BoundedLeastSquares, LeavesWhatTheDataDoNotSayAtZero) {
  Case k = random_case(4, 5, 0.5);
  for (std::size_t i = 0; i < 4; ++i) {
    k.m(i, 2) = k.m(2, i) = 0;          // no data at all
    k.m(i, 3) = k.m(3, i) = k.m(i, 0);  // the first one again
  }
  k.m(3, 3) = k.m(0, 0);
  k.y[2] = 0;
  k.y[3] = k.y[0] = std::abs(k.y[0]);
  const BoundedSolution s = bounded_least_squares(k.m.view(), k.y, k.lower, k.upper);
  expect_kkt(k, s);
  EXPECT_EQ(s.c[2], 0);
}

}  // namespace
}  // namespace loom
