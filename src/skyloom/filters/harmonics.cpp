// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/harmonics.hpp"

#include <algorithm>
#include <cmath>

#include "loom/simd/isa_tables.hpp"
#include "skyloom/filters/dense_cholesky.hpp"
#include "skyloom/filters/harmonics_kernels.hpp"
#include "skyloom/good_sample.hpp"

namespace skyloom {

LOOM_ISA_TABLES(HarmonicKernels, kHarmonics, harmonic_kernels)

/// Templates of a stretch, a block of samples after another: those of the trend first. Samples
/// behind the stretch are 0.
class HarmonicFilter::Columns {
 public:
  Columns(const HarmonicFilter& filter, const Stretch& stretch)
      : filter_(filter),
        stretch_(stretch),
        trends_(filter.options_.trend ? *filter.options_.trend + 1 : 0),
        count_(trends_ + filter.options_.harmonics * (filter.options_.drift ? 4 : 2)),
        rows_(count_ * kTemplateBlock) {}

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t trends() const noexcept { return trends_; }
  [[nodiscard]] const double* row(std::size_t column) const noexcept {
    return rows_.data() + column * kTemplateBlock;
  }
  /// sums[k] += template k times values, of the first `columns`.
  void add_products(std::size_t columns, const double* values, double* sums) const {
    kernels_.add_products(rows_.data(), columns, values, sums);
  }
  /// What the templates from `from` on, times x, are at the samples.
  void mix(std::size_t from, const double* x, double* out) const {
    kernels_.mix(row(from), count_ - from, x + from, out);
  }

  /// Calls use(first, n): the rows are of samples [first, first + n) of the observation. Blocks of
  /// which wanted(first, n) is false are passed over.
  template <class Wanted, class Use>
  void over(const Wanted& wanted, const Use& use) {
    for (std::size_t first = stretch_.first; first < stretch_.end; first += kTemplateBlock) {
      const std::size_t n = std::min(kTemplateBlock, stretch_.end - first);
      if (!wanted(first, n)) continue;
      make(first, n);
      use(first, n);
    }
  }
  template <class Use>
  void over(const Use& use) {
    over([](std::size_t, std::size_t) { return true; }, use);
  }

 private:
  void make(std::size_t first, std::size_t n) {
    const auto length = static_cast<double>(stretch_.end - stretch_.first);
    const auto at = static_cast<double>(2 * (first - stretch_.first) + 1);
    kernels_.make({.n = n,
                   .first_time = at / length - 1,
                   .time_step = 2 / length,
                   .cosine = filter_.cosines_.data() + first,
                   .sine = filter_.sines_.data() + first,
                   .trends = trends_,
                   .harmonics = filter_.options_.harmonics,
                   .drift = filter_.options_.drift,
                   .rows = rows_.data()});
  }

  const HarmonicFilter& filter_;
  Stretch stretch_;
  std::size_t trends_, count_;
  const HarmonicKernels& kernels_ = harmonic_kernels(active_isa());
  std::vector<double> rows_;  ///< [template][sample of the block]
};

/// Normal equations over the good samples, lower triangle, and their solution.
class HarmonicFilter::Fit {
 public:
  Fit(const HarmonicFilter& filter, const Stretch& stretch)
      : columns_(filter, stretch),
        stretch_(stretch),
        n_(columns_.count()),
        matrix_(n_ * n_, 0.0),
        coefficients_(n_, 0.0),
        good_(kTemplateBlock) {}

  [[nodiscard]] Columns& columns() noexcept { return columns_; }

  /// Sums over samples that take part; `values` empty: over all.
  void add_good(std::span<const double> values, std::span<const std::uint8_t> flags) {
    std::vector<double> masked(kTemplateBlock);
    columns_.over([&](std::size_t first, std::size_t n) {
      for (std::size_t i = 0; i < n && !values.empty(); ++i) {
        good_[i] = takes_part(values[first + i], flags[first + i]) ? 1 : 0;
      }
      for (std::size_t r = 0; r < n_; ++r) {
        const double* left = columns_.row(r);
        if (!values.empty()) {
          for (std::size_t i = 0; i < kTemplateBlock; ++i) masked[i] = left[i] * good_[i];
          left = masked.data();
        }
        columns_.add_products(r + 1, left, &matrix_[r * n_]);
      }
    });
  }
  /// The same, from what all samples make: less what those are that take no part.
  void take_bad(const std::vector<double>& all, std::span<const double> values,
                std::span<const std::uint8_t> flags) {
    matrix_ = all;
    std::vector<double> at(n_);
    const auto is_bad = [&](std::size_t i) { return !takes_part(values[i], flags[i]); };
    const auto has_bad = [&](std::size_t first, std::size_t n) {
      for (std::size_t i = first; i < first + n; ++i) {
        if (is_bad(i)) return true;
      }
      return false;
    };
    columns_.over(has_bad, [&](std::size_t first, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        if (!is_bad(first + i)) continue;
        for (std::size_t r = 0; r < n_; ++r) at[r] = columns_.row(r)[i];
        for (std::size_t r = 0; r < n_; ++r) {
          for (std::size_t c = 0; c <= r; ++c) matrix_[r * n_ + c] -= at[r] * at[c];
        }
      }
    });
  }
  [[nodiscard]] const std::vector<double>& matrix() const noexcept { return matrix_; }
  [[nodiscard]] bool factor() {
    std::vector<double> whole(n_);
    for (std::size_t r = 0; r < n_; ++r) whole[r] = matrix_[r * n_ + r];
    return factor_cholesky(matrix_.data(), n_, n_, whole.data());
  }
  /// Coefficients of what is in the values now.
  void solve(std::span<const double> values, std::span<const std::uint8_t> flags) {
    std::fill(coefficients_.begin(), coefficients_.end(), 0.0);
    columns_.over([&](std::size_t first, std::size_t n) {
      add_products(first, n, values, flags, coefficients_.data());
    });
    solve_cholesky(matrix_.data(), n_, n_, coefficients_.data());
  }
  /// Takes the templates from `from` on out of the values; then has the coefficients of what is
  /// left.
  void take_out(std::size_t from, std::span<double> values, std::span<const std::uint8_t> flags) {
    std::vector<double> left(n_, 0.0);
    columns_.over([&](std::size_t first, std::size_t n) {
      columns_.mix(from, coefficients_.data(), good_.data());
      for (std::size_t i = 0; i < n; ++i) values[first + i] -= good_[i];
      add_products(first, n, values, flags, left.data());
    });
    coefficients_ = left;
    solve_cholesky(matrix_.data(), n_, n_, coefficients_.data());
  }
  /// Calls use(sample, what the templates from `from` on are there).
  template <class Use>
  void model(std::size_t from, const Use& use) {
    columns_.over([&](std::size_t first, std::size_t n) {
      columns_.mix(from, coefficients_.data(), good_.data());
      for (std::size_t i = 0; i < n; ++i) use(first + i, good_[i]);
    });
  }

 private:
  /// Of the good ones of a block whose templates are there.
  void add_products(std::size_t first, std::size_t n, std::span<const double> values,
                    std::span<const std::uint8_t> flags, double* sums) {
    for (std::size_t i = 0; i < n; ++i) {
      const double value = values[first + i];
      good_[i] = takes_part(value, flags[first + i]) ? value : 0;
    }
    std::fill(good_.begin() + static_cast<std::ptrdiff_t>(n), good_.end(), 0.0);
    columns_.add_products(n_, good_.data(), sums);
  }

  Columns columns_;
  Stretch stretch_;
  std::size_t n_;
  std::vector<double> matrix_, coefficients_;
  std::vector<double> good_;  ///< of a block: what is summed of its samples
};

HarmonicFilter::HarmonicFilter(const HarmonicTemplate& options, std::span<const double> angles,
                               std::span<const Stretch> stretches)
    : options_(options),
      cosines_(angles.size()),
      sines_(angles.size()),
      stretches_(stretches.begin(), stretches.end()) {
  for (std::size_t i = 0; i < angles.size(); ++i) {
    cosines_[i] = std::cos(angles[i]);
    sines_[i] = std::sin(angles[i]);
  }
  for (const Stretch& stretch : stretches_) {
    Fit fit(*this, stretch);
    fit.add_good({}, {});
    matrices_.push_back(fit.matrix());
  }
}

bool HarmonicFilter::subtract(std::size_t number, std::span<double> values,
                              std::span<const std::uint8_t> flags) const {
  const Stretch& stretch = stretches_[number];
  std::size_t bad = 0;
  for (std::size_t i = stretch.first; i < stretch.end; ++i) {
    bad += takes_part(values[i], flags[i]) ? 0 : 1;
  }
  Fit fit(*this, stretch);
  // what is left of a difference has fewer digits the more is taken
  if (4 * bad <= stretch.end - stretch.first) {
    fit.take_bad(matrices_[number], values, flags);
  } else {
    fit.add_good(values, flags);
  }
  if (!fit.factor()) return false;
  const std::size_t from = options_.detrend ? 0 : fit.columns().trends();
  fit.solve(values, flags);
  fit.take_out(from, values, flags);
  fit.model(from, [&](std::size_t i, double model) { values[i] -= model; });  // what rounding left
  return true;
}

bool HarmonicFilter::fill(const Stretch& around, const Stretch& gap, std::span<double> values,
                          std::span<const std::uint8_t> flags) const {
  Fit fit(*this, around);
  fit.add_good(values, flags);
  if (!fit.factor()) return false;
  fit.solve(values, flags);
  fit.model(0, [&](std::size_t i, double model) {
    if (i >= gap.first && i < gap.end) values[i] = model;
  });
  return true;
}

}  // namespace skyloom
