// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/banded_cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace skyloom {

BandedCholesky::BandedCholesky(std::span<const double> diagonal, std::span<const double> lags,
                               std::span<const char> alone)
    : width_(std::max<std::size_t>(1, std::min(lags.size(), diagonal.size()))),
      factor_(diagonal.size() * width_, 0.0),
      good_(true) {
  const std::size_t n = diagonal.size();
  for (std::size_t r = 0; r < n; ++r) {
    double* const row = factor_.data() + r * width_;
    const std::size_t most = std::min(r, width_ - 1);
    for (std::size_t back = most; back > 0; --back) {
      const std::size_t c = r - back;
      const double* const other = factor_.data() + c * width_;
      double value = alone[r] != 0 || alone[c] != 0 ? 0 : lags[back];
      // columns before c that both rows reach
      const std::size_t reach = std::min(most - back, std::min(c, width_ - 1));
      for (std::size_t k = 1; k <= reach; ++k) value -= row[back + k] * other[k];
      row[back] = value * other[0];
    }
    double pivot = diagonal[r];
    for (std::size_t back = 1; back <= most; ++back) pivot -= row[back] * row[back];
    if (!(pivot > 0)) {
      good_ = false;
      return;
    }
    row[0] = 1 / std::sqrt(pivot);
  }
}

void BandedCholesky::solve(std::span<double> x) const noexcept {
  const std::size_t n = x.size();
  for (std::size_t r = 0; r < n; ++r) {
    const double* const row = factor_.data() + r * width_;
    const std::size_t most = std::min(r, width_ - 1);
    for (std::size_t back = 1; back <= most; ++back) x[r] -= row[back] * x[r - back];
    x[r] *= row[0];
  }
  for (std::size_t r = n; r-- > 0;) {
    const double* const row = factor_.data() + r * width_;
    x[r] *= row[0];
    const std::size_t most = std::min(r, width_ - 1);
    for (std::size_t back = 1; back <= most; ++back) x[r - back] -= row[back] * x[r];
  }
}

}  // namespace skyloom
