// SPDX-License-Identifier: BSD-3-Clause
// Coefficients with bounds from normal equations, by chi2 or as the peer finds them.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::redshift {

/// How coefficients that have bounds are found.
enum class Constrained {
  kChi2,             ///< chi2 itself is minimised
  kNormalEquations,  ///< |M c - y|^2 is, as the peer does: not the same, and kept for comparison
};

[[nodiscard]] std::vector<double> solve_constrained(Constrained how, const Array2D<double>& m,
                                                    std::span<const double> y,
                                                    std::span<const double> lower,
                                                    std::span<const double> upper);

/// 2 y c - c M c: by how much a model lowers chi2.
[[nodiscard]] double chi2_gain(const Array2D<double>& m, std::span<const double> y,
                               std::span<const double> c);

}  // namespace fiberloom::redshift
