// SPDX-License-Identifier: BSD-3-Clause
// One banded symmetric positive matrix: factor once, solve often. For preconditioners; batches of
// matrices belong to loom/linalg.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "skyloom/foundation.hpp"

namespace skyloom {

class BandedCholesky {
 public:
  BandedCholesky() = default;
  /// The matrix with this diagonal and the same numbers on each lower diagonal 1 ... `lags` - 1,
  /// rows and columns of `alone` taken out but for their diagonal.
  BandedCholesky(std::span<const double> diagonal, std::span<const double> lags,
                 std::span<const char> alone);

  /// Whether all pivots were positive.
  [[nodiscard]] bool good() const noexcept { return good_; }
  /// Solves in place.
  void solve(std::span<double> x) const noexcept;

 private:
  std::size_t width_ = 0;       ///< diagonals, the main one among them
  std::vector<double> factor_;  ///< [row][back]: element (row, row - back); back 0: its inverse
  bool good_ = false;
};

}  // namespace skyloom
