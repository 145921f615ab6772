// SPDX-License-Identifier: BSD-3-Clause
// One symmetric positive definite banded matrix of any half-bandwidth, in plain arithmetic: for the
// few systems of a frame that come alone. Many alike go eight to a pack (banded.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loom/base/array.hpp"

namespace loom {

class BandedSolver {
 public:
  /// M = L D L^T of diagonals [half + 1][n]: (d, j) = M[j, j + d]. n half (half + 1) / 2
  /// multiply-adds.
  explicit BandedSolver(const Array2D<double>& diagonals);

  /// False where a pivot is not above 16 eps of its diagonal (or no number): M is then not positive
  /// definite as far as rounding tells, and nothing below is of use.
  [[nodiscard]] bool positive_definite() const noexcept { return positive_definite_; }
  /// M x = b in place, [n]. 2 n half multiply-adds.
  void solve(std::span<double> b) const noexcept;
  /// Entries (j, j + d) of M^-1, d <= width, as diagonals [width + 1][n], 0 beyond the end, by the
  /// Takahashi recurrence; width >= half. n half width multiply-adds.
  [[nodiscard]] Array2D<double> inverse(std::size_t width) const;

 private:
  std::size_t n_, half_;
  std::vector<double> l_;      ///< [n][half]: (j, d - 1) = L[j + d, j]
  std::vector<double> inv_d_;  ///< [n]
  bool positive_definite_ = true;
};

}  // namespace loom
