// SPDX-License-Identifier: BSD-3-Clause
// A small symmetric system, solved in place by Cholesky factors.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "skyloom/foundation.hpp"

namespace skyloom {

inline constexpr double kLeastPivot = 1e-10;  ///< of a diagonal: below it nothing is determined

/// The lower triangle of A, `n` rows `stride` numbers apart, becomes L of A = L L^T. False where a
/// pivot is not above kLeastPivot whole[row]. O(n^3).
[[nodiscard]] inline bool factor_cholesky(double* matrix, std::size_t n, std::size_t stride,
                                          const double* whole) noexcept {
  for (std::size_t r = 0; r < n; ++r) {
    double* const mine = matrix + r * stride;
    for (std::size_t c = 0; c < r; ++c) {
      const double* const other = matrix + c * stride;
      for (std::size_t k = 0; k < c; ++k) mine[c] -= mine[k] * other[k];
      mine[c] /= other[c];
      mine[r] -= mine[c] * mine[c];
    }
    if (!(mine[r] > kLeastPivot * whole[r])) return false;
    mine[r] = std::sqrt(mine[r]);
  }
  return true;
}

/// b becomes the solution of L L^T x = b.
inline void solve_cholesky(const double* factor, std::size_t n, std::size_t stride,
                           double* b) noexcept {
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < r; ++c) b[r] -= factor[r * stride + c] * b[c];
    b[r] /= factor[r * stride + r];
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t c = r + 1; c < n; ++c) b[r] -= factor[c * stride + r] * b[c];
    b[r] /= factor[r * stride + r];
  }
}

/// L^-1 of a lower triangle, [n][n].
[[nodiscard]] inline std::vector<double> inverse_of_factor(const std::vector<double>& factor,
                                                           std::size_t n) {
  std::vector<double> out(n * n, 0.0);
  for (std::size_t r = 0; r < n; ++r) {
    double* const mine = out.data() + r * n;
    for (std::size_t k = 0; k < r; ++k) {
      const double of = factor[r * n + k];
      const double* const other = out.data() + k * n;
      for (std::size_t c = 0; c <= k; ++c) mine[c] -= of * other[c];
    }
    const double pivot = factor[r * n + r];
    for (std::size_t c = 0; c < r; ++c) mine[c] /= pivot;
    mine[r] = 1 / pivot;
  }
  return out;
}

}  // namespace skyloom
