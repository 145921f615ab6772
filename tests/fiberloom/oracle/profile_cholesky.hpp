// SPDX-License-Identifier: BSD-3-Clause
// Cholesky factor of a symmetric matrix in extended precision. It is the dense algorithm; it only
// skips the zeros left of the first entry of each row, which stay zero. Nothing is truncated.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/fiberloom/oracle/quadrature_spot.hpp"

namespace fiberloom::oracle {

/// Lower triangle, row i from column first[i] to the diagonal.
struct ProfileMatrix {
  std::vector<std::size_t> first;
  std::vector<std::vector<Real>> row;

  [[nodiscard]] std::size_t size() const noexcept { return row.size(); }
  /// Element (i, j), i >= j.
  [[nodiscard]] Real lower(std::size_t i, std::size_t j) const {
    return j < first[i] ? Real{0} : row[i][j - first[i]];
  }
  /// Element (i, j) of the symmetric matrix.
  [[nodiscard]] Real at(std::size_t i, std::size_t j) const {
    return i >= j ? lower(i, j) : lower(j, i);
  }
  void append_row(std::size_t first_column, std::vector<Real> values) {
    first.push_back(first_column);
    row.push_back(std::move(values));
  }
};

/// Sum of a[k] b[k], k < n, in a fixed order (four partial sums).
[[nodiscard]] Real dot(const Real* a, const Real* b, std::size_t n);

/// Rows and columns `keep` (increasing) of the matrix.
[[nodiscard]] ProfileMatrix submatrix(const ProfileMatrix& m, const std::vector<std::size_t>& keep);

/// L with L L^T = m. Throws kNumerical when a pivot is not positive.
[[nodiscard]] ProfileMatrix cholesky(ProfileMatrix m);

/// b <- L^-1 b; rows before `start` of b are known to be zero.
void solve_lower(const ProfileMatrix& l, std::vector<Real>& b, std::size_t start);

/// b <- L^-T b.
void solve_upper(const ProfileMatrix& l, std::vector<Real>& b);

}  // namespace fiberloom::oracle
