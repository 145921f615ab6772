// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/harmonics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "skyloom/filters/dense_cholesky.hpp"
#include "skyloom/good_sample.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kBlock = 128;  // samples whose templates are at hand, in the first cache
constexpr std::size_t kPartial = 8;  // sums side by side, which lanes can have

/// Of kBlock numbers, in a fixed order.
double dot(const double* a, const double* b) noexcept {
  std::array<double, kPartial> sums{};
  for (std::size_t i = 0; i < kBlock; i += kPartial) {
    for (std::size_t k = 0; k < kPartial; ++k) sums[k] += a[i + k] * b[i + k];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

/// Templates of a stretch, a block of samples after another: those of the trend first. Samples
/// behind the stretch are 0.
class HarmonicFilter::Columns {
 public:
  Columns(const HarmonicFilter& filter, const Stretch& stretch)
      : filter_(filter),
        stretch_(stretch),
        trends_(filter.options_.trend ? *filter.options_.trend + 1 : 0),
        count_(trends_ + filter.options_.harmonics * (filter.options_.drift ? 4 : 2)),
        rows_(count_ * kBlock) {}

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t trends() const noexcept { return trends_; }
  [[nodiscard]] const double* row(std::size_t column) const noexcept {
    return rows_.data() + column * kBlock;
  }
  [[nodiscard]] double* row(std::size_t column) noexcept { return rows_.data() + column * kBlock; }

  /// Calls use(first, n): the rows are of samples [first, first + n) of the observation. Blocks of
  /// which wanted(first, n) is false are passed over.
  template <class Wanted, class Use>
  void over(const Wanted& wanted, const Use& use) {
    for (std::size_t first = stretch_.first; first < stretch_.end; first += kBlock) {
      const std::size_t n = std::min(kBlock, stretch_.end - first);
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
    std::array<double, kBlock> x, c{}, s{};  // x: time, -1 to 1
    const auto length = static_cast<double>(stretch_.end - stretch_.first);
    for (std::size_t i = 0; i < kBlock; ++i) {
      x[i] = static_cast<double>(2 * (first - stretch_.first + i) + 1) / length - 1;
    }
    std::copy_n(filter_.cosines_.data() + first, n, c.begin());
    std::copy_n(filter_.sines_.data() + first, n, s.begin());
    for (std::size_t k = 0; k < trends_; ++k) {
      double* const out = row(k);
      if (k == 0) std::fill_n(out, kBlock, 1.0);
      if (k == 1) std::copy(x.begin(), x.end(), out);
      if (k < 2) continue;
      const double* const one = row(k - 1);
      const double* const two = row(k - 2);
      const auto order = static_cast<double>(k);
      const double a = (2 * order - 1) / order, b = (order - 1) / order;
      for (std::size_t i = 0; i < kBlock; ++i) out[i] = a * x[i] * one[i] - b * two[i];
    }
    for (std::size_t k = 0; k < trends_; ++k) std::fill(row(k) + n, row(k) + kBlock, 0.0);
    const std::size_t harmonics = filter_.options_.harmonics;
    for (std::size_t m = 0; m < harmonics; ++m) {
      double* const cosine = row(trends_ + 2 * m);
      double* const sine = row(trends_ + 2 * m + 1);
      if (m == 0) {
        std::copy(c.begin(), c.end(), cosine);
        std::copy(s.begin(), s.end(), sine);
      } else {
        const double* const before = row(trends_ + 2 * m - 2);
        const double* const beside = row(trends_ + 2 * m - 1);
        for (std::size_t i = 0; i < kBlock; ++i) {
          cosine[i] = before[i] * c[i] - beside[i] * s[i];
          sine[i] = beside[i] * c[i] + before[i] * s[i];
        }
      }
    }
    if (!filter_.options_.drift) return;
    for (std::size_t m = 0; m < 2 * harmonics; ++m) {
      const double* const even = row(trends_ + m);
      double* const drift = row(trends_ + 2 * harmonics + m);
      for (std::size_t i = 0; i < kBlock; ++i) drift[i] = x[i] * even[i];
    }
  }

  const HarmonicFilter& filter_;
  Stretch stretch_;
  std::size_t trends_, count_;
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
        good_(kBlock) {}

  [[nodiscard]] Columns& columns() noexcept { return columns_; }

  /// Sums over samples that take part; `values` empty: over all.
  void add_good(std::span<const double> values, std::span<const std::uint8_t> flags) {
    std::vector<double> masked(kBlock);
    columns_.over([&](std::size_t first, std::size_t n) {
      for (std::size_t i = 0; i < n && !values.empty(); ++i) {
        good_[i] = takes_part(values[first + i], flags[first + i]) ? 1 : 0;
      }
      for (std::size_t r = 0; r < n_; ++r) {
        const double* left = columns_.row(r);
        if (!values.empty()) {
          for (std::size_t i = 0; i < kBlock; ++i) masked[i] = left[i] * good_[i];
          left = masked.data();
        }
        for (std::size_t c = 0; c <= r; ++c) matrix_[r * n_ + c] += dot(left, columns_.row(c));
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
    std::fill(good_.begin(), good_.end(), 0.0);
    columns_.over([&](std::size_t first, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        const double value = values[first + i];
        good_[i] = takes_part(value, flags[first + i]) ? value : 0;
      }
      std::fill(good_.begin() + static_cast<std::ptrdiff_t>(n), good_.end(), 0.0);
      for (std::size_t k = 0; k < n_; ++k) coefficients_[k] += dot(columns_.row(k), good_.data());
    });
    solve_cholesky(matrix_.data(), n_, n_, coefficients_.data());
  }
  /// Calls use(sample, what the templates from `from` on are there).
  template <class Use>
  void model(std::size_t from, const Use& use) {
    columns_.over([&](std::size_t first, std::size_t n) {
      std::fill(good_.begin(), good_.end(), 0.0);
      for (std::size_t k = from; k < n_; ++k) {
        const double* const row = columns_.row(k);
        const double x = coefficients_[k];
        for (std::size_t i = 0; i < kBlock; ++i) good_[i] += x * row[i];
      }
      for (std::size_t i = 0; i < n; ++i) use(first + i, good_[i]);
    });
  }

 private:
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
  for (int pass = 0; pass < 2; ++pass) {  // the second takes what rounding left of the first
    fit.solve(values, flags);
    fit.model(from, [&](std::size_t i, double model) { values[i] -= model; });
  }
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
