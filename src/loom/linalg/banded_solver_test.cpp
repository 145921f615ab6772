// SPDX-License-Identifier: BSD-3-Clause
// Against dense arithmetic (test_dense.hpp), with matrices narrower than their band too.
#include "loom/linalg/banded_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loom/base/rng.hpp"
#include "loom/linalg/test_dense.hpp"

namespace loom {
namespace {

Array2D<double> random_diagonals(std::size_t n, std::size_t half) {
  Array2D<double> out(half + 1, n, 0.0);
  const CounterRng rng(3, n + 100 * half);
  for (std::size_t d = 0; d <= half; ++d) {
    for (std::size_t j = 0; j + d < n; ++j) {
      out(d, j) = d == 0 ? 3 + rng.uniform(j) : rng.normal(d * n + j) / static_cast<double>(4 * d);
    }
  }
  return out;
}

test::Dense dense(const Array2D<double>& diagonals) {
  test::Dense m(diagonals.cols());
  for (std::size_t d = 0; d < diagonals.rows(); ++d) {
    for (std::size_t j = 0; j + d < m.n; ++j) m(j, j + d) = m(j + d, j) = diagonals(d, j);
  }
  return m;
}

struct Shape {
  std::size_t n, half;
};

class OneBandedSystem : public testing::TestWithParam<Shape> {};

TEST_P(OneBandedSystem, IsSolvedAndInvertedAsTheDenseOne) {
  const auto [n, half] = GetParam();
  const Array2D<double> m = random_diagonals(n, half);
  const test::Dense inverse = test::inverse(dense(m));
  const BandedSolver solver(m);
  ASSERT_TRUE(solver.positive_definite());
  std::vector<double> b(n);
  for (std::size_t j = 0; j < n; ++j) b[j] = std::cos(static_cast<double>(j));
  const std::vector<double> want = test::times(inverse, b);
  solver.solve(b);
  constexpr double kTolerance = 200 * std::numeric_limits<double>::epsilon();
  for (std::size_t j = 0; j < n; ++j) EXPECT_NEAR(b[j], want[j], kTolerance) << j;
  const std::size_t width = half + 3;
  const Array2D<double> z = solver.inverse(width);
  ASSERT_EQ(z.rows(), width + 1);
  for (std::size_t d = 0; d <= width; ++d) {
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_NEAR(z(d, j), j + d < n ? inverse(j, j + d) : 0.0, kTolerance) << d << " " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OneBandedSystem,
                         testing::Values(Shape{1, 0}, Shape{1, 3}, Shape{7, 0}, Shape{2, 10},
                                         Shape{60, 1}, Shape{60, 10}, Shape{11, 10}));

TEST(BandedSolver, SaysWhenTheMatrixIsNotPositiveDefinite) {
  Array2D<double> m = random_diagonals(20, 2);
  m(0, 7) = -1;
  EXPECT_FALSE(BandedSolver(m).positive_definite());
  m(0, 7) = std::nan("");
  EXPECT_FALSE(BandedSolver(m).positive_definite());
  Array2D<double> singular(2, 5, 1.0);
  for (std::size_t j = 0; j < 5; ++j) singular(0, j) = j == 0 || j == 4 ? 1 : 2;
  EXPECT_FALSE(BandedSolver(singular).positive_definite()) << "B B^T of a B without full rank";
}

}  // namespace
}  // namespace loom
