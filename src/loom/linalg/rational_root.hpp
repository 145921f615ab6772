// SPDX-License-Identifier: BSD-3-Clause
// Poles and weights of S^(1/2) = S sum_k c_k (S + t_k)^-1 on a spectrum in [low, high]
// (Hale, Higham & Trefethen 2008, method 3; quadrature on the complex ellipse map).
#pragma once

#include <vector>

namespace loom {

struct RationalRoot {
  std::vector<double> t, c;  ///< t > 0, c > 0
  double error = 0;          ///< bound on the relative error of sqrt over [low, high]
};

inline constexpr int kMostPoles = 40;

/// Number of poles from the fixed ladder 4, 6, 8 ... kMostPoles whose relative error over a
/// condition number kappa > 1 is at most `tolerance`.
[[nodiscard]] int pole_count(double kappa, double tolerance);

/// K poles for [low, high], 0 < low < high.
[[nodiscard]] RationalRoot rational_root(double low, double high, int poles);

}  // namespace loom
