// SPDX-License-Identifier: BSD-3-Clause
// Normal equations of a few unknowns. Knows no physics.
#pragma once

#include <vector>

#include "loom/base/array.hpp"

namespace loom {

/// N x = y of a small dense problem by eigenvalues, N scaled to a unit diagonal first.
struct SmallSolution {
  std::vector<double> x;
  Array2D<double> covariance;  ///< N^-1
  bool solvable = false;       ///< false: some combination of unknowns is not seen at all
};
[[nodiscard]] SmallSolution solve_small(const Array2D<double>& normal,
                                        const std::vector<double>& right);

}  // namespace loom
