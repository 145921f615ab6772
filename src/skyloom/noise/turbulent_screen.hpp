// SPDX-License-Identifier: BSD-3-Clause
// A frozen screen of turbulence: a Gaussian field of two dimensions with Kolmogorov's spectrum up
// to an outer scale. Knows no sky and no time.
#pragma once

#include <cstddef>
#include <vector>

#include "loom/base/executor.hpp"
#include "skyloom/random/gaussian.hpp"

namespace skyloom {

/// Covariance of the field at a distance, 1 at 0: 2^(1/6) / Gamma(5/6) (k0 r)^(5/6) K_5/6(k0 r), k0
/// = 2 pi / outer scale. Its spectrum is (k^2 + k0^2)^(-11/6), that of a thick layer of von Karman
/// turbulence seen from below; its structure function 2 (1 - C) grows as r^(5/3) at first.
[[nodiscard]] double turbulence_covariance(double distance_m, double outer_m);

struct ScreenShape {
  double cell_m = 2, outer_m = 300;
  std::size_t columns = 0, rows = 0;
};

/// Grid lengths are those of transforms: products of 2, 3 and 5.
[[nodiscard]] std::size_t screen_length(double cells) noexcept;

/// The field of rms 1 on a torus, exact at the nodes of its grid: by the eigenvalues of the
/// covariance there (Dietrich & Newsam 1997), of which those below 0 are set to 0. Where the torus
/// is some outer scales wide these are rounding. Single precision.
class TurbulentScreen {
 public:
  /// Numbers are drawn from the streams of `name` with its component + row. 20 bytes a node while
  /// it is made, 4 afterwards. O(n log n).
  TurbulentScreen(const ScreenShape& shape, StreamName name, Executor& executor);

  /// Between nodes cubic; beyond the edges the torus goes on. Metres from the first node.
  [[nodiscard]] double at(double x, double y) const noexcept;
  /// Of node (column, row).
  [[nodiscard]] float node(std::size_t column, std::size_t row) const noexcept {
    return values_[row * shape_.columns + column];
  }
  /// The sum of eigenvalues that were below 0 over that of the others.
  [[nodiscard]] double lost() const noexcept { return lost_; }

 private:
  ScreenShape shape_;
  double lost_ = 0;
  std::vector<float> values_;  ///< [row][column]
};

}  // namespace skyloom
