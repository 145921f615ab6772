// SPDX-License-Identifier: BSD-3-Clause
#include "loom/linalg/small_solve.hpp"

#include <gtest/gtest.h>

namespace loom {
namespace {

TEST(SolveSmall, SaysWhereACombinationIsNotSeen) {
  Array2D<double> n(2, 2, 1.0);
  EXPECT_FALSE(solve_small(n, {1, 1}).solvable);
  n(0, 0) = 4e10;
  n(1, 1) = 1e-10;
  n(0, 1) = n(1, 0) = 1;
  const SmallSolution solved = solve_small(n, {4e10 + 2, 1 + 2e-10});
  ASSERT_TRUE(solved.solvable);
  EXPECT_NEAR(solved.x[0], 1, 1e-10);
  EXPECT_NEAR(solved.x[1], 2, 1e-5) << "rounding of 4e10 in the other row";
}

}  // namespace
}  // namespace loom
