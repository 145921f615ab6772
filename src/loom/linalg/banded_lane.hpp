// SPDX-License-Identifier: BSD-3-Clause
// Banded symmetric kernels, one problem a lane: LDL^T, solves, selected inverse, one pole of the
// square root. The only text of these algorithms: simd/pack.hpp's Pack runs eight problems on a
// CPU, ScalarLane one on a GPU thread or in the reference. No allocation, no exceptions, no I/O.
//
// Layout: a symmetric matrix of n rows and half-bandwidth B is rows[n][B + 1][kLanes], entry (j, d)
// being M[j, j + d]. L is unit lower triangular, l(j, d - 1) = L[j + d, j]; inv_d = 1 / D. Rows
// past the end read as absent. Pointers address one lane; elements lie kLanes apart.
#pragma once

#include "loom/linalg/lane_loops.hpp"

namespace loom::lane {

/// Row j of the factorisation M + shift I = L D L^T: takes away what `rows` (at most B) rows before
/// add, oldest first, so that the newest pivot arrives last. ring.row(j) holds D_j L[j + e, j] at e
/// - 1; `also(f, k)` is told of each L[j, j - k]. Writes the row of l and inv_d; returns the pivot.
template <class V, int B, class Rows, class Also>
[[gnu::always_inline]] FL_LANE_HD inline V factor_row(int j, Rows rows, Ring<V, B, B>& ring,
                                                      const double* matrix, V shift, double* l,
                                                      double* inv_d, Also also) {
  V u[B + 1];
  downwards<0>(Constant<B>{},
               [&](auto e) [[gnu::always_inline]] { u[e] = at<V>(matrix, j * (B + 1) + e); });
  u[0] += shift;
  const double* l_row = l + static_cast<long>(j) * B * lane_stride<V>;
  downwards<1>(rows, [&](auto k) [[gnu::always_inline]] {
    const V* before = ring.row(j - k);
    const V f = at<V>(l_row, k - 1 - k * B);
    downwards<0>(less(Constant<B>{}, k),
                 [&](auto e) [[gnu::always_inline]] { u[e] = fnma(f, before[k + e - 1], u[e]); });
    also(f, k);
  });
  const V inverse = V(1.0) / u[0];
  put(inv_d, j, inverse);
  V* now = ring.row(j);
  downwards<1>(Constant<B>{}, [&](auto e) [[gnu::always_inline]] {
    now[e - 1] = u[e];
    put(l, j * B + e - 1, u[e] * inverse);
  });
  return u[0];
}

/// M + shift I = L D L^T. Writes l[n][B], inv_d[n]; returns the smallest pivot seen (not positive,
/// or NaN turned into -1, when the matrix is not positive definite; go on with care). n (B^2 / 2 +
/// B) operations.
template <class V, int B>
FL_LANE_HD inline V factor(int n, const double* matrix, V shift, double* l, double* inv_d) {
  Ring<V, B, B> ring;
  V smallest(1e300);
  const auto row = [&](int j, auto rows) {
    const V pivot = factor_row<V, B>(j, rows, ring, matrix, shift, l, inv_d, [](V, int) {});
    smallest = min(pivot, smallest);
    smallest = select_positive(abs(pivot), smallest, V(-1.0));
  };
  for (int j = 0; j < B && j < n; ++j) row(j, j);
  for (int j = B; j < n; ++j) row(j, Constant<B>{});
  return smallest;
}

/// Solves L D L^T x = b in place, rhs[n]. 2 n B operations.
template <class V, int B>
FL_LANE_HD inline void solve(int n, const double* l, const double* inv_d, double* rhs) {
  Ring<V, B, 1> solved;
  for (int j = 0; j < n; ++j) {
    V s = at<V>(rhs, j);
    if (j >= B) {
      const double* diagonal =
          l + static_cast<long>(j) * B * lane_stride<V>;  // L[j, j - k] lies at -k B + k - 1
      downwards<1>(Constant<B>{}, [&](auto k) [[gnu::always_inline]] {
        s = fnma(at<V>(diagonal, -k * B + k - 1), *solved.row(j - k), s);
      });
    } else {
      for (int k = j; k >= 1; --k) s = fnma(at<V>(l, (j - k) * B + k - 1), *solved.row(j - k), s);
    }
    *solved.row(j) = s;
    put(rhs, j, s);
  }
  Ring<V, B, 1> final;
  for (int j = n - 1; j >= 0; --j) {
    V s = at<V>(rhs, j) * at<V>(inv_d, j);
    downwards<1>(Constant<B>{}, [&](auto k) [[gnu::always_inline]] {
      s = fnma(at<V>(l, j * B + k - 1), *final.row(j + k), s);
    });
    *final.row(j) = s;
    put(rhs, j, s);
  }
}

/// Elements of a row of a selected inverse: 2 width + 1, and some that are not used where the
/// entries of a column would lie a multiple of 32 apart: in the same few sets of the first-level
/// cache of a CPU, where they drive each other out.
template <class V>
FL_LANE_HD constexpr int inverse_row(int width) {
  return 2 * width + 1 + (lane_stride<V> == 8 && 2 * width % 32 == 0 ? 16 : 0);
}

/// Entries (j, j + e), |e| <= width, of the inverse by the Takahashi recurrence; width >= B. Both
/// triangles are stored, z[n + width][inverse_row(width)], entry (j, width + e), so that rows are
/// read along memory. Whatever lies outside the matrix must be zero on entry and stays so. n B
/// width operations.
template <class V, int B>
FL_LANE_HD inline void selected_inverse(int n, const double* l, const double* inv_d, int width,
                                        double* z) {
  const int row = inverse_row<V>(width);
  for (int j = n - 1; j >= 0; --j) {
    V f[B + 1];
    FL_UNROLL
    for (int k = 1; k <= B; ++k) f[k] = at<V>(l, j * B + k - 1);
    for (int e = width < n - 1 - j ? width : n - 1 - j; e >= 1; --e) {
      const double* z_row = z + static_cast<long>((j + e) * row + width - e) *
                                    lane_stride<V>;  // entry (j+e, j+k) at k
      V s(0.0), s2(0.0);
      FL_UNROLL
      for (int k = B; k >= 2; k -= 2) {
        s = fnma(f[k], at<V>(z_row, k), s);
        s2 = fnma(f[k - 1], at<V>(z_row, k - 1), s2);
      }
      s += s2;
      put(z, j * row + width + e, s);
      put(z, (j + e) * row + width - e, s);
    }
    const double* own = z + static_cast<long>(j * row + width) * lane_stride<V>;
    V d = at<V>(inv_d, j), d2(0.0);
    FL_UNROLL
    for (int k = B; k >= 2; k -= 2) {
      d = fnma(f[k], at<V>(own, k), d);
      d2 = fnma(f[k - 1], at<V>(own, k - 1), d2);
    }
    put(z, j * row + width, d + d2);
  }
}

/// Gershgorin's bound on the spectrum: the largest absolute row sum.
template <class V, int B>
FL_LANE_HD inline V largest_row_sum(int n, const double* matrix) {
  V largest(0.0);
  for (int j = 0; j < n; ++j) {
    V sum = abs(at<V>(matrix, j * (B + 1)));
    const int right = B < n - 1 - j ? B : n - 1 - j, left = B < j ? B : j;
    for (int d = 1; d <= right; ++d) sum += abs(at<V>(matrix, j * (B + 1) + d));
    for (int d = 1; d <= left; ++d) sum += abs(at<V>(matrix, (j - d) * (B + 1) + d));
    largest = max(largest, sum);
  }
  return largest;
}

/// Adds one pole c (I - t (S + t I)^-1) of the square root of S: to q[n][nd + 1] its entries (j, j
/// + e), e <= nd <= B, to q1[n] and qx[n] its products with `ones` and `x`. Work: l[n][B],
/// inv_d[n], v1[n], vx[n]. Returns the smallest pivot. n (3 B^2 / 2 + 6 B) operations.
// Long: factor, solutions and inverse of a pole share their rings.
template <class V, int B>
FL_LANE_HD inline V root_pole(int n, const double* s, V t, V c, const double* ones, const double* x,
                              int nd, double* l, double* inv_d, double* v1, double* vx, double* q,
                              double* q1, double* qx) {
  V smallest(1e300);
  Ring<V, B, B> ring;
  const auto forward = [&](int j, auto rows) {
    V a = at<V>(ones, j), b = at<V>(x, j);
    const auto solve_too = [&](V f, int k) [[gnu::always_inline]] {
      a = fnma(f, at<V>(v1, j - k), a);
      b = fnma(f, at<V>(vx, j - k), b);
    };
    smallest = min(factor_row<V, B>(j, rows, ring, s, t, l, inv_d, solve_too), smallest);
    put(v1, j, a);
    put(vx, j, b);
  };
  for (int j = 0; j < B && j < n; ++j) forward(j, j);
  for (int j = B; j < n; ++j) forward(j, Constant<B>{});
  // Backward: both solves and the selected inverse. A row of the ring holds the solutions at 0 and
  // 2 B, and entry (row, row + e) of the inverse at B + e, both triangles of it where the compiler
  // would try to keep in registers, and fail, what it finds in one triangle twice.
  constexpr bool kBoth = B > 12;
  Ring<V, B, 2 * B + 1> done;
  const V ct = c * t;
  for (int j = n - 1; j >= 0; --j) {
    const V inverse = at<V>(inv_d, j);
    V f[B + 1], w[B + 1];
    V a = at<V>(v1, j) * inverse, b = at<V>(vx, j) * inverse;
    downwards<1>(Constant<B>{}, [&](auto k) [[gnu::always_inline]] {
      f[k] = at<V>(l, j * B + k - 1);
      a = fnma(f[k], done.row(j + k)[0], a);
      b = fnma(f[k], done.row(j + k)[2 * B], b);
    });
    downwards<1>(Constant<B>{}, [&](auto e) [[gnu::always_inline]] {
      V sum(0.0), sum2(0.0);
      if constexpr (kBoth) {
        const V* z = done.row(j + e) + B - e;
        FL_UNROLL
        for (int k = B; k >= 2; k -= 2) {
          sum = fnma(f[k], z[k], sum);
          sum2 = fnma(f[k - 1], z[k - 1], sum2);
        }
      } else {
        downwards<1>(Constant<B>{}, [&](auto k) [[gnu::always_inline]] {
          V& part = k % 2 == 0 ? sum : sum2;
          part = fnma(f[k], (k < e ? done.row(j + k) + e - k : done.row(j + e) + k - e)[B], part);
        });
      }
      w[e] = sum + sum2;
    });
    V d = inverse, d2(0.0);
    FL_UNROLL
    for (int k = B; k >= 2; k -= 2) {
      d = fnma(f[k], w[k], d);
      d2 = fnma(f[k - 1], w[k - 1], d2);
    }
    w[0] = d + d2;
    V* now = done.row(j);
    downwards<0>(Constant<B - 1>{}, [&](auto e) [[gnu::always_inline]] { now[B + e] = w[e]; });
    if constexpr (kBoth) {
      downwards<1>(Constant<B - 1>{},
                   [&](auto e) [[gnu::always_inline]] { done.row(j + e)[B - e] = w[e]; });
    }
    now[0] = a;
    now[2 * B] = b;
    put(q1, j, fma(c, at<V>(ones, j), fnma(ct, a, at<V>(q1, j))));
    put(qx, j, fma(c, at<V>(x, j), fnma(ct, b, at<V>(qx, j))));
    put(q, j * (nd + 1), fnma(ct, w[0], at<V>(q, j * (nd + 1))) + c);
    for (int e = 1; e <= nd; ++e) {
      put(q, j * (nd + 1) + e, fnma(ct, w[e], at<V>(q, j * (nd + 1) + e)));
    }
  }
  return smallest;
}

}  // namespace loom::lane
