// SPDX-License-Identifier: BSD-3-Clause
// What one fibre's elimination adds to its neighbour: C^T Z C, with Z a selected inverse
// (banded_lane.hpp has the layout of both).
#pragma once

#include "loom/linalg/banded_lane.hpp"

namespace loom::lane {

/// out_i = own_i . (shared + i Shift) for i < M, 2 H + 1 elements each; own(i, g) gives them, out_i
/// lies at out + i stride. What is shared is loaded once for all of them.
template <int H, int M, int Shift, class V, class Own>
[[gnu::always_inline]] FL_LANE_HD inline void dot_products(const double* shared, Own own,
                                                           double* out, int stride) {
  V s[M], s2[M];
  FL_UNROLL
  for (int i = 0; i < M; ++i) {
    s[i] = V(0.0);
    s2[i] = own(i, 2 * H) * at<V>(shared, 2 * H + i * Shift);
  }
  constexpr int kLast = 2 * H - 1 + (M - 1) * Shift;
  downwards<0, 3 * kMostStraight>(Constant<kLast>{}, [&](auto k) [[gnu::always_inline]] {
    const int x = kLast - k;  // upwards
    const V z = at<V>(shared, x);
    FL_UNROLL
    for (int i = 0; i < M; ++i) {
      const int g = x - i * Shift;
      if (g < 0 || g >= 2 * H) continue;
      V& part = g % 2 == 0 ? s[i] : s2[i];
      part = fma(own(i, g), z, part);
    }
  });
  FL_UNROLL
  for (int i = 0; i < M; ++i) put(out, i * stride, s[i] + s2[i]);
}

/// Columns [m, m + M) of the congruence below. Rows of Z and columns of C that all M meet are
/// loaded once for all of them.
// Long: two loops over what all M columns meet.
template <class V, int H, int M>
FL_LANE_HD inline void congruence_columns(int n, int m, const double* columns, const double* z,
                                          int band, double* t, double* e) {
  const int width = band + 2 * H, row = inverse_row<V>(width), length = width + 1;
  constexpr int kColumn = 2 * H + 1;
  const auto column = [&](int k) {
    return columns + static_cast<long>(k) * kColumn * lane_stride<V>;
  };
  // row a of Z, from column k - H on
  const auto z_at = [&](int a, int k) {
    return z + (static_cast<long>(a) * row + width + k - H - a) * lane_stride<V>;
  };
  // (Z c_i)_a, and what a column k of C multiplies of it
  const auto t_at = [&](int i, int a) {
    return t + (i * length + a - (m + i - band - H)) * lane_stride<V>;
  };
  const auto e_at = [&](int i, int k) {
    return e + (static_cast<long>(k) * (band + 1) + m + i - k) * lane_stride<V>;
  };
  const auto of = [](const double* p) { return [p](int, int g) { return at<V>(p, g); }; };
  const int first = m - band - H, last = m + H;  // of column m; both are one more for the next
  const int low = first + M - 1 < 0 ? 0 : first + M - 1, high = last < n ? last : n - 1;
  const auto edge = [&](int i, int from, int to) {
    for (int a = from; a < to; ++a) {
      if (a < 0 || a >= n) {
        put(t_at(i, a), 0, V(0.0));
      } else {
        dot_products<H, 1, 0, V>(z_at(a, m + i), of(column(m + i)), t_at(i, a), 0);
      }
    }
  };
  for (int i = 0; i < M; ++i) {
    edge(i, first + i, low);
    edge(i, high + 1, last + i + 1);
  }
  const double* c = column(m);
  if constexpr (M == 1) {
    V held[kColumn];
    downwards<0, 3 * kMostStraight>(Constant<kColumn - 1>{},
                                    [&](auto g) [[gnu::always_inline]] { held[g] = at<V>(c, g); });
    const auto own = [&](int, int g) { return held[g]; };
    for (int a = low; a <= high; ++a) dot_products<H, 1, 0, V>(z_at(a, m), own, t_at(0, a), 0);
  } else {
    const auto own = [&](int i, int g) { return at<V>(c, i * kColumn + g); };
    for (int a = low; a <= high; ++a)
      dot_products<H, M, 1, V>(z_at(a, m), own, t_at(0, a), length - 1);
  }
  // E[k, m + i] = c_k . t_i; rows [begin, m] are in all M columns
  const int begin = m - band + M - 1 < 0 ? 0 : m - band + M - 1;
  for (int i = 0; i < M; ++i) {
    const auto single = [&](int k) {
      dot_products<H, 1, 0, V>(column(k), of(t_at(i, k - H)), e_at(i, k), 0);
    };
    for (int k = m + i - band < 0 ? 0 : m + i - band; k < begin; ++k) single(k);
    for (int k = m + 1; k <= m + i; ++k) single(k);
  }
  for (int k = begin; k <= m; ++k) {
    const double* those = t_at(0, k - H);
    const auto own = [&](int i, int g) { return at<V>(those, i * (length - 1) + g); };
    dot_products<H, M, 0, V>(column(k), own, e_at(0, k), 1);
  }
}

/// Columns of a congruence that are taken together, at most.
inline constexpr int kTogether = 4;

/// Congruence E = C^T Z C in the band: e[n][band + 1] with E[k, k + d]. `columns` holds C by
/// columns, columns[n][2 H + 1], entry (m, H + g) = C[m + g, m], zero where m + g is outside the
/// matrix; z is a selected inverse of width band + 2 H. t: scratch for kTogether (band + 2 H + 1)
/// elements. n (2 H + 1)(2 band + 2 H + 2) operations.
template <class V, int H>
FL_LANE_HD inline void congruence(int n, const double* columns, const double* z, int band,
                                  double* t, double* e) {
  // the part of Z that a narrow column meets stays in the first-level cache
  constexpr int kStep = H <= 8 ? 1 : kTogether;
  int m = 0;
  for (; m + kStep <= n; m += kStep) congruence_columns<V, H, kStep>(n, m, columns, z, band, t, e);
  for (; m < n; ++m) congruence_columns<V, H, 1>(n, m, columns, z, band, t, e);
}

}  // namespace loom::lane
