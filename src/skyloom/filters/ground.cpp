// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/ground.hpp"

#include <algorithm>

#include "skyloom/filters/dense_cholesky.hpp"
#include "skyloom/filters/legendre.hpp"
#include "skyloom/good_sample.hpp"

namespace skyloom {

GroundFilter::GroundFilter(const GroundTemplate& options, std::span<const double> azimuth)
    : options_(options),
      polynomials_(options.bin_deg > 0 || !options.order ? 0 : *options.order + 1),
      trends_(options.trend.value_or(0)),
      at_(ground_places(options, azimuth)) {}

/// Normal equations of dense columns (trends, and polynomials of azimuth for each sweep's way) with
/// bins, which are taken out of them first: a bin's own equation is one number.
class GroundFilter::Fit {
 public:
  Fit(const GroundFilter& filter, std::span<const double> values,
      std::span<const std::uint8_t> flags)
      : filter_(filter),
        values_(values),
        flags_(flags),
        dense_(filter.trends_ + filter.polynomials_ * (filter.options_.split ? 2 : 1)),
        binned_(filter.polynomials_ == 0 ? filter.at_.bins : 0),
        matrix_(dense_ * dense_, 0.0),
        coupling_(binned_ * dense_, 0.0),
        counts_(binned_, 0.0),
        row_(dense_, 0.0),
        scratch_(std::max(filter.trends_ + 1, filter.polynomials_) + 1, 0.0) {}

  /// False where the good samples do not determine the coefficients.
  bool factor() {
    std::size_t good = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!is_good(i)) continue;
      ++good;
      const std::uint32_t bin = row(i);
      for (std::size_t r = 0; r < dense_; ++r) {
        for (std::size_t c = 0; c <= r; ++c) matrix_[r * dense_ + c] += row_[r] * row_[c];
        if (binned_ > 0) coupling_[bin * dense_ + r] += row_[r];
      }
      if (binned_ > 0) counts_[bin] += 1;
    }
    if (good == 0) return false;
    std::vector<double> whole(dense_);
    for (std::size_t r = 0; r < dense_; ++r) whole[r] = matrix_[r * dense_ + r];
    for (std::size_t b = 0; b < binned_; ++b) {
      if (counts_[b] == 0) continue;
      const double* const c = coupling_.data() + b * dense_;
      for (std::size_t r = 0; r < dense_; ++r) {
        for (std::size_t k = 0; k <= r; ++k) matrix_[r * dense_ + k] -= c[r] * c[k] / counts_[b];
      }
    }
    return factor_cholesky(matrix_.data(), dense_, dense_, whole.data());
  }

  /// Takes the ground's part of the solution out of `values`, which are those that were given.
  void take_out(std::span<double> values) {
    std::vector<double> dense(dense_, 0.0), bins(binned_, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_good(i)) continue;
      const std::uint32_t bin = row(i);
      for (std::size_t r = 0; r < dense_; ++r) dense[r] += row_[r] * values[i];
      if (binned_ > 0) bins[bin] += values[i];
    }
    for (std::size_t b = 0; b < binned_; ++b) {
      if (counts_[b] == 0) continue;
      for (std::size_t r = 0; r < dense_; ++r) {
        dense[r] -= coupling_[b * dense_ + r] * bins[b] / counts_[b];
      }
    }
    solve_cholesky(matrix_.data(), dense_, dense_, dense.data());
    for (std::size_t b = 0; b < binned_; ++b) {
      if (counts_[b] == 0) continue;
      for (std::size_t r = 0; r < dense_; ++r) bins[b] -= coupling_[b * dense_ + r] * dense[r];
      bins[b] /= counts_[b];
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint32_t bin = row(i);
      double sum = binned_ > 0 ? bins[bin] : 0;
      for (std::size_t r = filter_.trends_; r < dense_; ++r) sum += row_[r] * dense[r];
      values[i] -= sum;
    }
  }

  /// Samples of bins that no good sample is in.
  void flag_unknown(std::span<std::uint8_t> flags) const {
    for (std::size_t i = 0; i < flags.size() && binned_ > 0; ++i) {
      if (counts_[filter_.at_.place[i]] == 0) flags[i] = 1;
    }
  }

 private:
  [[nodiscard]] bool is_good(std::size_t i) const { return takes_part(values_[i], flags_[i]); }
  /// The dense columns at a sample; returns its bin.
  std::uint32_t row(std::size_t i) {
    const std::size_t trends = filter_.trends_, orders = filter_.polynomials_;
    if (trends > 0) {
      const double x = 2 * static_cast<double>(i) / static_cast<double>(values_.size()) - 1;
      legendre(x, trends + 1, scratch_.data());
      std::copy_n(scratch_.data() + 1, trends, row_.data());
    }
    const std::uint32_t bin = filter_.at_.place[i];
    if (orders == 0) return bin;
    std::fill(row_.begin() + static_cast<std::ptrdiff_t>(trends), row_.end(), 0.0);
    legendre(filter_.at_.phase[i], orders, row_.data() + trends + bin * orders);
    return bin;
  }

  const GroundFilter& filter_;
  std::span<const double> values_;
  std::span<const std::uint8_t> flags_;
  std::size_t dense_, binned_;
  std::vector<double> matrix_, coupling_, counts_;  ///< lower triangle; [bin][column]; of bins
  std::vector<double> row_, scratch_;
};

bool GroundFilter::subtract(std::span<double> values, std::span<std::uint8_t> flags) const {
  Fit fit(*this, values, flags);
  if (!fit.factor()) return false;
  for (int pass = 0; pass < 2; ++pass) fit.take_out(values);  // rounding of the first
  fit.flag_unknown(flags);
  return true;
}

}  // namespace skyloom
