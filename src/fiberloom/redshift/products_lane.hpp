// SPDX-License-Identifier: BSD-3-Clause
// The products of a fast scan (scan_kernels.hpp has the contracts), templates on the lane types:
// packs of redshifts on a CPU, one redshift on a thread of a card (gpu/). Seen by .cu.
#pragma once

#include "fiberloom/foundation.hpp"
#include "fiberloom/redshift/scan_kernels.hpp"
#include "loom/linalg/lane_loops.hpp"

namespace fiberloom::redshift::lane {

using loom::lane::at;
using loom::lane::put;

/// B of one pixel: nb sums over the diagonals, all in registers where NB is a constant.
template <class V, int NB>
[[gnu::always_inline]] FL_LANE_HD inline void blur_pixel(int nb_runtime, int ndiag,
                                                         const double* row, const double* t, V* b) {
  const int nb = NB > 0 ? NB : nb_runtime;
  FL_UNROLL
  for (int a = 0; a < nb; ++a) b[a] = V(0.0);
  for (int m = 0; m < ndiag; ++m) {
    const V r(row[m]);
    const double* column = t + static_cast<long>(m) * nb * kLanes;
    FL_UNROLL
    for (int a = 0; a < nb; ++a) b[a] = fma(r, at<V>(column, a), b[a]);
  }
}

/// A lane's numbers as floats, and back.
template <class V>
[[gnu::always_inline]] FL_LANE_HD inline void put_floats(V v, float* p) {
  if constexpr (V::width == 1) {
    *p = static_cast<float>(v.v);
  } else {
    v.store_floats(p);
  }
}
template <class V>
[[gnu::always_inline]] FL_LANE_HD inline V from_floats(const float* p) {
  if constexpr (V::width == 1) {
    return V(static_cast<double>(*p));
  } else {
    return V::load_floats(p);
  }
}

/// The products B_a B_b, a <= b, of one pixel, and the B_a themselves, in single precision. b(a):
/// B_a; cell(column) and cell_of_b(column): where a column's numbers go; zeros fill up the last
/// pair of columns of either, since the widest registers take two.
template <class V, class Pixel, class Cell, class CellOfB>
[[gnu::always_inline]] FL_LANE_HD inline void product_pixel(int nb, Pixel b, Cell cell,
                                                            CellOfB cell_of_b) {
  int column = 0;
  FL_UNROLL
  for (int p = 0; p < nb; ++p) {
    const V bp = b(p);
    put_floats(bp, cell_of_b(p));
    FL_UNROLL
    for (int q = p; q < nb; ++q) put_floats(bp * b(q), cell(column++));
  }
  if (column % 2 != 0) put_floats(V(0.0), cell(column));
  if (nb % 2 != 0) put_floats(V(0.0), cell_of_b(nb));
}

/// Where column `column` of pixel i lies among groups of columns of `count` pixels.
[[gnu::always_inline]] FL_LANE_HD inline long column_at(int column, long i, long count) {
  return ((column / kGatherColumns * count + i) * kGatherColumns + column % kGatherColumns) *
         kLanes;
}

template <class V, int NB>
void products(int nb_runtime, int ndiag, long count, const double* rows, const double* t,
              const double* scale, float* out) {
  const int nb = NB > 0 ? NB : nb_runtime;
  V b[NB > 0 ? NB : kMostBasis];
  float* const of_b = out + column_groups(triangle(nb)) * count * kGatherColumns * kLanes;
  for (long i = 0; i < count; ++i) {
    blur_pixel<V, NB>(nb, ndiag, rows + i * ndiag, t + i * nb * kLanes, b);
    product_pixel<V>(
        nb, [&](int a) { return b[a] * V(scale[a]); },
        [&](int column) { return out + column_at(column, i, count); },
        [&](int column) { return of_b + column_at(column, i, count); });
  }
}

/// Registers of F that hold a pixel's columns: two columns each where F is wider than kLanes; else
/// one, of which F holds a part.
template <class F>
inline constexpr int kRegisterFloats = F::width > kLanes ? F::width : kLanes;
template <class F>
[[nodiscard]] FL_LANE_HD constexpr int registers_of(int columns) noexcept {
  return (columns * kLanes + kRegisterFloats<F> - 1) / kRegisterFloats<F>;
}

/// sum[t * registers + r] += value[i][t] column[i] over `count` pixels, for `targets` of the
/// kGatherTargets that lie side by side.
template <class F, int columns, int targets>
[[gnu::always_inline]] FL_LANE_HD inline void gather_tile(long count, const float* value,
                                                          const float* group, F* sum) {
  constexpr int registers = registers_of<F>(columns);
  for (long i = 0; i < count; ++i) {
    FL_UNROLL
    for (int r = 0; r < registers; ++r) {
      const F column = F::load(group + r * kRegisterFloats<F>);
      FL_UNROLL
      for (int t = 0; t < targets; ++t) {
        sum[t * registers + r] = fma(F(value[t]), column, sum[t * registers + r]);
      }
    }
    group += kGatherColumns * kLanes;
    value += kGatherTargets;
  }
}

/// body.template operator()<columns>(): the last group has fewer columns, and their zeros would
/// cost as much as numbers.
template <class Body>
[[gnu::always_inline]] FL_LANE_HD inline void with_columns(int columns, Body body) {
  static_assert(kGatherColumns == 6);
  switch (columns) {
    case 1:
      return body.template operator()<1>();
    case 2:
      return body.template operator()<2>();
    case 3:
      return body.template operator()<3>();
    case 4:
      return body.template operator()<4>();
    case 5:
      return body.template operator()<5>();
    default:
      return body.template operator()<6>();
  }
}

/// Targets whose sums stay in registers: AVX-512 has 32, the others 16.
template <class F>
inline constexpr int kRegisterTargets = F::width == 16 ? kGatherTargets : kGatherTargets / 2;

/// Sums of a tile in single precision are added to those of all pixels, in double.
template <class V, class F, int columns>
void gather_columns(long count, const float* value, const float* group, double* normal,
                    long stride) {
  constexpr int targets = kRegisterTargets<F>, registers = registers_of<F>(columns);
  for (int first = 0; first < kGatherTargets; first += targets) {
    F sum[targets * registers];
    FL_UNROLL_ALL
    for (F& s : sum) s = F(0.0);
    gather_tile<F, columns, targets>(count, value + first, group, sum);
    FL_UNROLL
    for (int t = 0; t < targets; ++t) {
      double* const to = normal + (first + t) * stride;
      FL_UNROLL
      for (int r = 0; r < registers; ++r) {
        float part[F::width];
        sum[t * registers + r].store(part);
        FL_UNROLL
        for (int i = 0; i < F::width; i += V::width) {
          double* const at = to + r * kRegisterFloats<F> + i;
          if (r * kRegisterFloats<F> + i >= columns * kLanes) continue;  // half of a last pair
          (V::load(at) + from_floats<V>(part + i)).store(at);
        }
      }
    }
  }
}

template <class V, class F>
void gather(long count, int columns, const float* value, const float* group, double* normal,
            long stride) {
  with_columns(columns, [&]<int N>() {
    for (int i = 0; i < kLanes; i += F::width) {
      gather_columns<V, F, N>(count, value, group + i, normal + i, stride);
    }
  });
}

}  // namespace fiberloom::redshift::lane
