// SPDX-License-Identifier: BSD-3-Clause
// Stripe removal's loops on packs: running medians with a line in each lane, products of matrices,
// polynomials fitted to columns.
#pragma once

#include <algorithm>
#include <cstddef>

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/prepare/stripe_kernels.hpp"
#include "tomoloom/prepare/stripe_mean_lane.hpp"

namespace tomoloom::lane {

/// V: a pack of floats; D: one of doubles.
template <class V, class D>
struct StripeTable {
  static constexpr std::size_t width = V::width;

  /// Position i of a line of n that goes on mirrored at its ends, the ends repeated.
  static std::size_t folded(std::ptrdiff_t i, std::size_t n) {
    const auto period = static_cast<std::ptrdiff_t>(2 * n);
    if (i < 0 || i >= period) i = ((i % period) + period) % period;
    const auto at = static_cast<std::size_t>(i);
    return at < n ? at : 2 * n - 1 - at;
  }

  /// The sorted window loses `gone`, which is in it, and takes `come` up, in one go.
  static void exchange_in(V gone, V come, std::size_t size, float* window) {
    V own = V::load(window);
    for (std::size_t i = 0; i + 1 < size; ++i) {
      const V next = V::load(window + (i + 1) * kRankLanes);
      const V kept = select_positive(gone - own, own, next);
      min(kept, come).store(window + i * kRankLanes);
      come = max(kept, come);
      own = next;
    }
    come.store(window + (size - 1) * kRankLanes);
  }
  static void medians_of_pack(const float* in, std::size_t n, std::size_t step, std::size_t size,
                              float* window, float* out) {
    const auto before = static_cast<std::ptrdiff_t>(size / 2);
    const auto after = static_cast<std::ptrdiff_t>(size) - before - 1;
    const auto at = [&](std::ptrdiff_t i) { return V::load(in + folded(i, n) * step); };
    for (std::size_t count = 0; count < size; ++count) {
      V come = at(static_cast<std::ptrdiff_t>(count) - before);
      for (std::size_t i = 0; i < count; ++i) {
        const V own = V::load(window + i * kRankLanes);
        min(own, come).store(window + i * kRankLanes);
        come = max(own, come);
      }
      come.store(window + count * kRankLanes);
    }
    for (std::size_t x = 0; x < n; ++x) {
      V::load(window + size / 2 * kRankLanes).store(out + x * step);
      if (x + 1 == n) break;
      const auto here = static_cast<std::ptrdiff_t>(x);
      exchange_in(at(here - before), at(here + after + 1), size, window);
    }
  }
  static void running_medians(const float* in, std::size_t n, std::size_t step, std::size_t size,
                              float* window, float* out) {
    for (std::size_t lane = 0; lane < kRankLanes; lane += width) {
      medians_of_pack(in + lane, n, step, size, window + lane, out + lane);
    }
  }

  /// Rows of C whose sums stay in registers.
  static constexpr std::size_t kRows = 6, kPacks = 2, kWide = kPacks * width;

  template <std::size_t Rows>
  static void multiply_rows(const Product& p, std::size_t row, std::size_t column,
                            const float* panel) {
    V sum[Rows][kPacks];
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t i = 0; i < kPacks; ++i) sum[r][i] = V(0);
    }
    const float* const a = p.a + row * p.a_step;
    for (std::size_t k = 0; k < p.k; ++k) {
      V b[kPacks];
      for (std::size_t i = 0; i < kPacks; ++i) b[i] = V::load(panel + k * kWide + i * width);
      FL_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const V value(a[r * p.a_step + k]);
        for (std::size_t i = 0; i < kPacks; ++i) sum[r][i] = fma(value, b[i], sum[r][i]);
      }
    }
    const std::size_t count = std::min(kWide, p.n - column);
    for (std::size_t r = 0; r < Rows; ++r) {
      float line[kWide];
      for (std::size_t i = 0; i < kPacks; ++i) sum[r][i].store(line + i * width);
      std::copy_n(line, count, p.c + (row + r) * p.c_step + column);
    }
  }
  static void multiply(const Product& p, float* panel) {
    for (std::size_t column = 0; column < p.n; column += kWide) {
      const std::size_t count = std::min(kWide, p.n - column);
      for (std::size_t k = 0; k < p.k; ++k) {
        float* const to = panel + k * kWide;
        std::copy_n(p.b + k * p.b_step + column, count, to);
        std::fill_n(to + count, kWide - count, 0.0F);
      }
      std::size_t row = 0;
      for (; row + kRows <= p.m; row += kRows) multiply_rows<kRows>(p, row, column, panel);
      for (; row < p.m; ++row) multiply_rows<1>(p, row, column, panel);
    }
  }

  /// A window that moves by one angle gains one and loses one: its moments with the basis give the
  /// polynomial's value in its middle.
  static void fit_pack(const ColumnFit& f, std::size_t column) {
    const auto n = static_cast<std::ptrdiff_t>(f.angles),
               half = static_cast<std::ptrdiff_t>(f.half);
    const auto at = [&](std::ptrdiff_t i) {
      if (i < 0) i = -i;
      if (i >= n) i = 2 * n - 2 - i;
      return D::load_floats(f.in + static_cast<std::size_t>(i) * f.columns + column);
    };
    D moment[kMostTerms];
    for (std::size_t t = 0; t < f.terms; ++t) moment[t] = D(0);
    const auto add = [&](std::ptrdiff_t i, D value) {
      const double* const basis = f.basis + static_cast<std::size_t>(i + half) * f.terms;
      for (std::size_t t = 0; t < f.terms; ++t) moment[t] = fma(D(basis[t]), value, moment[t]);
    };
    for (std::ptrdiff_t i = -half; i < half; ++i) add(i, at(i));
    for (std::ptrdiff_t a = 0; a < n; ++a) {
      add(a + half, at(a + half));
      const double* const value = f.value + static_cast<std::size_t>(a) * f.terms;
      D sum(0);
      for (std::size_t t = 0; t < f.terms; ++t) sum = fma(D(value[t]), moment[t], sum);
      sum.store_floats(f.out + static_cast<std::size_t>(a) * f.columns + column);
      add(a - half, -at(a - half));
    }
  }
  /// Of at least as many columns as a pack has: the last pack may overlap the one before.
  static void fit(const ColumnFit& f) {
    for (std::size_t x = 0; x < f.columns; x += D::width) {
      fit_pack(f, std::min(x, f.columns - D::width));
    }
  }

  /// `Packs` packs from x on, side by side: each sum waits for the one before.
  template <std::size_t Packs>
  static void filter_packs(const float* const* lines, const float* first_taps,
                           const float* second_taps, std::size_t x, float* first, float* second) {
    V a[Packs], b[Packs];
    for (std::size_t i = 0; i < Packs; ++i) a[i] = b[i] = V(0);
    FL_UNROLL
    for (std::size_t t = 0; t < kTaps; ++t) {
      const V smooth(first_taps[t]), rough(second_taps[t]);
      for (std::size_t i = 0; i < Packs; ++i) {
        const V value = V::load(lines[t] + x + i * width);
        a[i] = fma(smooth, value, a[i]);
        b[i] = fma(rough, value, b[i]);
      }
    }
    for (std::size_t i = 0; i < Packs; ++i) {
      a[i].store(first + x + i * width);
      b[i].store(second + x + i * width);
    }
  }
  static void filter_pair(const float* const* lines, const float* first_taps,
                          const float* second_taps, std::size_t n, float* first, float* second) {
    std::size_t x = 0;
    for (; x + 2 * width <= n; x += 2 * width) {
      filter_packs<2>(lines, first_taps, second_taps, x, first, second);
    }
    for (; x + width <= n; x += width) {
      filter_packs<1>(lines, first_taps, second_taps, x, first, second);
    }
    for (; x < n; ++x) {
      float a = 0, b = 0;
      for (std::size_t t = 0; t < kTaps; ++t) {
        a += first_taps[t] * lines[t][x];
        b += second_taps[t] * lines[t][x];
      }
      first[x] = a;
      second[x] = b;
    }
  }

  static void corrected_product(float* values, const double* first, const double* second,
                                std::size_t n, float* least) {
    for (std::size_t x = 0; x < n; ++x) {
      const float product = corrected_twice(values[x], first[x], second[x]);
      values[x] = product;
      least[x] = product < least[x] ? product : least[x];
    }
  }
  static double add_line(const float* values, std::size_t n, double* sums) {
    constexpr std::size_t kParts = 8;
    double part[kParts] = {};
    std::size_t x = 0;
    for (; x + kParts <= n; x += kParts) {
      for (std::size_t i = 0; i < kParts; ++i) {
        const double value = static_cast<double>(values[x + i]);
        sums[x + i] += value;
        part[i] += value;
      }
    }
    for (; x < n; ++x) {
      sums[x] += static_cast<double>(values[x]);
      part[0] += static_cast<double>(values[x]);
    }
    return ((part[0] + part[1]) + (part[2] + part[3])) +
           ((part[4] + part[5]) + (part[6] + part[7]));
  }

  static constexpr StripeKernels table() {
    return {running_medians, multiply, fit, filter_pair, corrected_product, add_line};
  }
};

}  // namespace tomoloom::lane
