// SPDX-License-Identifier: BSD-3-Clause
#include "loom/linalg/banded_solver.hpp"

#include <algorithm>
#include <limits>

namespace loom {

BandedSolver::BandedSolver(const Array2D<double>& diagonals)
    : n_(diagonals.cols()),
      half_(diagonals.rows() == 0 ? 0 : diagonals.rows() - 1),
      l_(n_ * half_, 0.0),
      inv_d_(n_, 0.0) {
  constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();
  // rows of what is left of M: row j % (half + 1) holds entries (j, j + d), touched by all before
  std::vector<double> left((half_ + 1) * (half_ + 1), 0.0);
  const auto row = [&](std::size_t j) { return left.data() + (j % (half_ + 1)) * (half_ + 1); };
  const auto load = [&](std::size_t j) {
    double* to = row(j);
    for (std::size_t d = 0; d <= half_; ++d) to[d] = j + d < n_ ? diagonals(d, j) : 0.0;
  };
  for (std::size_t j = 0; j < std::min(half_, n_); ++j) load(j);
  for (std::size_t j = 0; j < n_; ++j) {
    if (j + half_ < n_) load(j + half_);
    const double* u = row(j);
    const double pivot = u[0];
    if (!(pivot > kRounding * diagonals(0, j))) positive_definite_ = false;
    inv_d_[j] = 1 / pivot;
    double* l = l_.data() + j * half_;
    const std::size_t reach = std::min(half_, n_ - 1 - j);
    for (std::size_t d = 1; d <= reach; ++d) {
      const double f = u[d] * inv_d_[j];
      l[d - 1] = f;
      double* to = row(j + d);
      for (std::size_t e = d; e <= reach; ++e) to[e - d] -= f * u[e];
    }
  }
}

void BandedSolver::solve(std::span<double> b) const noexcept {
  for (std::size_t j = 0; j < n_; ++j) {
    const double* l = l_.data() + j * half_;
    const std::size_t reach = std::min(half_, n_ - 1 - j);
    for (std::size_t d = 1; d <= reach; ++d) b[j + d] -= l[d - 1] * b[j];
  }
  for (std::size_t j = n_; j-- > 0;) {
    const double* l = l_.data() + j * half_;
    const std::size_t reach = std::min(half_, n_ - 1 - j);
    double sum = b[j] * inv_d_[j];
    for (std::size_t d = 1; d <= reach; ++d) sum -= l[d - 1] * b[j + d];
    b[j] = sum;
  }
}

Array2D<double> BandedSolver::inverse(std::size_t width) const {
  Array2D<double> z(width + 1, n_, 0.0);
  const auto entry = [&](std::size_t a, std::size_t b) {
    return a <= b ? z(b - a, a) : z(a - b, b);
  };
  for (std::size_t j = n_; j-- > 0;) {
    const double* l = l_.data() + j * half_;
    const std::size_t reach = std::min(half_, n_ - 1 - j);
    for (std::size_t e = std::min(width, n_ - 1 - j); e >= 1; --e) {
      double sum = 0;
      for (std::size_t d = 1; d <= reach; ++d) sum -= l[d - 1] * entry(j + d, j + e);
      z(e, j) = sum;
    }
    double sum = inv_d_[j];
    for (std::size_t d = 1; d <= reach; ++d) sum -= l[d - 1] * z(d, j);
    z(0, j) = sum;
  }
  return z;
}

}  // namespace loom
