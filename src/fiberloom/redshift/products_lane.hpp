// SPDX-License-Identifier: BSD-3-Clause
// The products of a fast scan (scan_kernels.hpp has the contracts), a template on the lane type:
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

/// The products B_a B_b, a <= b, of one pixel, and the B_a themselves. b(a): B_a; cell(column) and
/// cell_of_b(column): where a column's number goes; the last group of either is filled up with
/// zeros.
template <class V, class Pixel, class Cell, class CellOfB>
[[gnu::always_inline]] FL_LANE_HD inline void product_pixel(int nb, Pixel b, Cell cell,
                                                            CellOfB cell_of_b) {
  int column = 0;
  for (int p = 0; p < nb; ++p) {
    const V bp = b(p);
    bp.store(cell_of_b(p));
    for (int q = p; q < nb; ++q) (bp * b(q)).store(cell(column++));
  }
  for (; column % kGatherColumns != 0; ++column) V(0.0).store(cell(column));
  for (int p = nb; p % kGatherColumns != 0; ++p) V(0.0).store(cell_of_b(p));
}

/// Where column `column` of pixel i lies among groups of columns of `count` pixels.
[[gnu::always_inline]] FL_LANE_HD inline long column_at(int column, long i, long count) {
  return ((column / kGatherColumns * count + i) * kGatherColumns + column % kGatherColumns) *
         kLanes;
}

template <class V>
void products(int nb, long count, const double* b, double* out) {
  const long of_b = column_groups(triangle(nb)) * count * kGatherColumns * kLanes;
  for (long i = 0; i < count; ++i) {
    const double* pixel = b + i * nb * kLanes;
    product_pixel<V>(
        nb, [&](int a) { return at<V>(pixel, a); },
        [&](int column) { return out + column_at(column, i, count); },
        [&](int column) { return out + of_b + column_at(column, i, count); });
  }
}

/// sum[t * columns + c] += value[i][t] column[i][c] over `count` pixels, for `targets` of the
/// kGatherTargets that lie side by side.
template <class V, int columns, int targets>
[[gnu::always_inline]] FL_LANE_HD inline void gather_tile(long count, const double* value,
                                                          const double* group, V* sum) {
  for (long i = 0; i < count; ++i) {
    FL_UNROLL
    for (int c = 0; c < columns; ++c) {
      const V column = at<V>(group, c);
      FL_UNROLL
      for (int t = 0; t < targets; ++t) {
        sum[t * columns + c] = fma(V(value[t]), column, sum[t * columns + c]);
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
template <class V>
inline constexpr int kRegisterTargets = V::width == 8 ? kGatherTargets : kGatherTargets / 2;

template <class V, int columns>
void gather_columns(long count, const double* value, const double* group, double* normal,
                    long stride) {
  constexpr int targets = kRegisterTargets<V>;
  for (int first = 0; first < kGatherTargets; first += targets) {
    V sum[targets * columns];
    FL_UNROLL_ALL
    for (V& s : sum) s = V(0.0);
    gather_tile<V, columns, targets>(count, value + first, group, sum);
    for (int t = 0; t < targets; ++t) {
      double* const to = normal + (first + t) * stride;
      for (int c = 0; c < columns; ++c) put(to, c, at<V>(to, c) + sum[t * columns + c]);
    }
  }
}

template <class V>
void gather(long count, int columns, const double* value, const double* group, double* normal,
            long stride) {
  with_columns(columns,
               [&]<int N>() { gather_columns<V, N>(count, value, group, normal, stride); });
}

}  // namespace fiberloom::redshift::lane
