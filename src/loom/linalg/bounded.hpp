// SPDX-License-Identifier: BSD-3-Clause
// Least squares with bounds on the unknowns, small and dense, from the normal equations: minimises
// 1/2 c M c - y c with lower <= c <= upper, which is chi2 itself up to a constant, by the
// active-set method of Lawson & Hanson and of Stark & Parker with Cholesky factors of the free
// part.
#pragma once

#include <span>
#include <vector>

#include "loom/base/array.hpp"

namespace loom {

struct BoundedSolution {
  std::vector<double> c;
  double gain = 0;         ///< 2 y c - c M c: by how much the model lowers chi2
  bool converged = false;  ///< false only where rounding kept the active set from settling
};

/// M [n][n] symmetric positive semi-definite, y [n]; bounds may be infinite, lower <= upper. An
/// unknown about which M says nothing stays at the bound (or zero) nearest to zero. O(n^4) at
/// worst.
[[nodiscard]] BoundedSolution bounded_least_squares(View2D<const double> m,
                                                    std::span<const double> y,
                                                    std::span<const double> lower,
                                                    std::span<const double> upper);

}  // namespace loom
