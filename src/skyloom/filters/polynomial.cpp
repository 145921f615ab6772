// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/polynomial.hpp"

#include <array>
#include <cmath>

#include "skyloom/filters/dense_cholesky.hpp"
#include "skyloom/filters/legendre.hpp"
#include "skyloom/good_sample.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kMost = kMostPolynomial + 1;

using Row = std::array<double, kMost>;

double place(std::size_t i, std::size_t n) noexcept {
  return static_cast<double>(2 * i + 1) / static_cast<double>(n) - 1;
}

/// Normal equations of the polynomials over the good samples, lower triangle.
class Fit {
 public:
  Fit(std::size_t coefficients, std::span<const double> values, std::span<const std::uint8_t> flags)
      : n_(coefficients), values_(values), flags_(flags) {}

  /// Sums and factors them; false where they do not determine the coefficients.
  [[nodiscard]] bool factor() noexcept {
    std::size_t good = 0;
    Row at{};
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!is_good(i)) continue;
      ++good;
      legendre(place(i, values_.size()), n_, at.data());
      for (std::size_t r = 0; r < n_; ++r) {
        for (std::size_t c = 0; c <= r; ++c) matrix_[r * kMost + c] += at[r] * at[c];
      }
    }
    if (good < n_) return false;
    Row whole{};
    for (std::size_t r = 0; r < n_; ++r) whole[r] = matrix_[r * kMost + r];
    return factor_cholesky(matrix_.data(), n_, kMost, whole.data());
  }

  /// Coefficients of what is in the values now.
  [[nodiscard]] Row solve() const noexcept {
    Row out{}, at{};
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!is_good(i)) continue;
      legendre(place(i, values_.size()), n_, at.data());
      for (std::size_t r = 0; r < n_; ++r) out[r] += values_[i] * at[r];
    }
    solve_cholesky(matrix_.data(), n_, kMost, out.data());
    return out;
  }

 private:
  [[nodiscard]] bool is_good(std::size_t i) const noexcept {
    return takes_part(values_[i], flags_[i]);
  }
  std::size_t n_;
  std::span<const double> values_;
  std::span<const std::uint8_t> flags_;
  std::array<double, kMost * kMost> matrix_{};
};

}  // namespace

bool subtract_polynomial(std::size_t order, std::span<double> values,
                         std::span<const std::uint8_t> flags) {
  const std::size_t n = order + 1;
  Fit fit(n, values, flags);
  if (n > kMost || !fit.factor()) return false;
  for (int pass = 0; pass < 2; ++pass) {  // the second takes what rounding left of the first
    const Row coefficients = fit.solve();
    Row at{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      legendre(place(i, values.size()), n, at.data());
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += coefficients[k] * at[k];
      values[i] -= sum;
    }
  }
  return true;
}

}  // namespace skyloom
