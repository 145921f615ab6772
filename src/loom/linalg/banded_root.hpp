// SPDX-License-Identifier: BSD-3-Clause
// Square root of one banded matrix that comes alone: its poles side by side, one a lane. Of many
// matrices alike each goes into a lane of its own (banded.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/linalg/rational_root.hpp"

namespace loom {

/// Memory that banded_root() works in, some 400 bytes for each entry of the band. Kept from one
/// matrix to the next, it need not be asked for, and cleared by the system, each time.
class RootSpace {
 public:
  /// `n` doubles, whatever they hold; `slot` tells one use from another.
  [[nodiscard]] double* get(std::size_t slot, std::size_t n);

 private:
  std::vector<Buffer<double>> buffers_;
};

/// Q = A^(1/2) as far as it was asked for.
struct BandedRoot {
  Array2D<double> q;                ///< [half + 1][n]: (d, j) = Q[j, j + d]
  std::vector<double> sums, along;  ///< Q 1, Q^-1 y
  /// False where A + t is not positive definite for some pole, as far as rounding tells: then the
  /// rest is of no use.
  bool definite = true;
};

/// Of A [band + 1][n], (d, j) = A[j, j + d], by the poles given: Q = sum c (I - t Z) and Q^-1 = sum
/// c Z with Z = (A + t)^-1. n (3 band^2 / 2 + 6 band) operations a pole, eight of them at a time
/// where band and half are at most the last of kBands, else one after the other.
[[nodiscard]] BandedRoot banded_root(const Array2D<double>& a, std::span<const double> y,
                                     std::size_t half, const RationalRoot& poles, RootSpace& space);

}  // namespace loom
