// SPDX-License-Identifier: BSD-3-Clause
// One spectrum seen through many resolution matrices: the least squares that fibre flat, sky and
// flux calibration share (docs/fiberloom/calibration-design.md). Knows no step of the calibration.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::calibrate {

/// One fibre: data = diag(gain) R diag(shape) s + border^T b + noise. All spans [n]; an empty gain
/// or shape is 1, an empty weight counts for nothing.
struct Sighting {
  Banded<const float> resolution;
  std::span<const double> data, weight;  ///< weight: inverse variance, 0 where nothing is known
  std::span<const double> gain{}, shape{};
  std::span<const double> border{};  ///< [nborder][n], as the data have it: behind R
};

/// Normal equations of the spectrum s [n] and the few numbers b [nborder] that come with it:
/// A = sum_f T R^T G W G R T is banded, U couples s to b, C is b's own small matrix.
struct NormalEquations {
  Array2D<double> a;           ///< [ndiag][n]: (d, j) = A[j, j + d]
  std::vector<double> y;       ///< [n]
  Array2D<double> u;           ///< [nborder][n]
  Array2D<double> c;           ///< [nborder][nborder]
  std::vector<double> y_of_b;  ///< [nborder]

  [[nodiscard]] std::size_t n() const noexcept { return y.size(); }
  [[nodiscard]] std::size_t nborder() const noexcept { return y_of_b.size(); }
};

/// Sums over all fibres, in their order, in blocks of wavelengths: the same bytes whatever the
/// executor. Every R has `n` columns. O(nfiber n ndiag (ndiag / 2 + nborder)).
[[nodiscard]] NormalEquations normal_equations(std::size_t n, std::size_t nborder,
                                               std::span<const Sighting> fibers,
                                               Executor& executor);

struct SolveOptions {
  /// Bins whose diagonal of A is not above this times its median are left out: s = 0 there.
  double least_information = 0;
  /// Added to the diagonal of A of every bin, and this times `ridge_toward` to y.
  double ridge = 0, ridge_toward = 0;
};

/// The symmetric banded covariance of s, as NormalEquations::a; and what b adds to it: Cov =
/// band + V^T V with V [nborder][n].
struct Covariance {
  Array2D<double> band;
  Array2D<double> through_border;
};

struct Deconvolved {
  std::vector<double> value;          ///< [n] s
  std::vector<double> border;         ///< [nborder] b
  Array2D<double> border_covariance;  ///< [nborder][nborder]
  std::vector<unsigned char> known;   ///< [n] 1 where s is constrained
  Covariance covariance;              ///< empty unless asked for
};

enum class WithCovariance { kNo, kYes };

/// Banded Cholesky, Schur complement of the border, and, asked for, the entries of the inverse that
/// variance_through() needs. Throws kNumerical where A is not positive definite to rounding even
/// after 1e-9 of its median diagonal has been added.
[[nodiscard]] Deconvolved solve(const NormalEquations& equations, const SolveOptions& options,
                                WithCovariance covariance);

/// diag(R Cov R^T), R of no more diagonals than the equations were made of. O(n ndiag^2).
[[nodiscard]] std::vector<double> variance_through(Banded<const float> r,
                                                   const Covariance& covariance);

}  // namespace fiberloom::calibrate
