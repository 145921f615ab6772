// SPDX-License-Identifier: BSD-3-Clause
// Banded symmetric kernels, one problem a lane: LDL^T, solves, selected inverse, one pole of the square root.
// The only text of these algorithms: simd/pack.hpp's Pack runs eight problems on a CPU, ScalarLane one on a
// GPU thread or in the reference. No allocation, no exceptions, no I/O.
//
// Layout: a symmetric matrix of n rows and half-bandwidth B is rows[n][B + 1][kLanes], entry (j, d) being
// M[j, j + d]. L is unit lower triangular, l(j, d - 1) = L[j + d, j]; inv_d = 1 / D. Rows past the end read
// as absent. Pointers address one lane; elements lie kLanes apart.
#pragma once

#include "fiberloom/base/scalar_lane.hpp"

namespace fiberloom::lane {

inline constexpr int kStride = 8;  ///< doubles between neighbouring elements of one lane

template <class V>
FL_LANE_HD inline V at(const double* p, int index) {
  return V::load(p + static_cast<long>(index) * kStride);
}
template <class V>
FL_LANE_HD inline void put(double* p, int index, V value) {
  value.store(p + static_cast<long>(index) * kStride);
}

/// M + shift I = L D L^T. Writes l[n][B], inv_d[n]; returns the smallest pivot seen (not positive, or NaN
/// turned into -1, when the matrix is not positive definite; go on with care). n (B^2 / 2 + B) operations.
template <class V, int B>
FL_LANE_HD inline V factor(int n, const double* matrix, V shift, double* l, double* inv_d) {
  // u(j, e) = D_j L[j+e, j] of the last B rows, in a ring: row j needs l(j-k, k) u(j-k, k+e)
  V ring_u[B][B + 1], ring_l[B][B + 1];
  for (int k = 0; k < B; ++k) {
    for (int e = 0; e <= B; ++e) ring_u[k][e] = ring_l[k][e] = V(0.0);
  }
  V smallest(1e300);
  for (int j = 0; j < n; ++j) {
    V u[B + 1];
    for (int e = 0; e <= B; ++e) u[e] = at<V>(matrix, j * (B + 1) + e);
    u[0] += shift;
    for (int k = B; k >= 1; --k) {  // oldest row first: the newest pivot arrives last
      const int slot = (j + B - k) % B;
      const V f = ring_l[slot][k];
      for (int e = 0; e <= B - k; ++e) u[e] = fnma(f, ring_u[slot][k + e], u[e]);
    }
    const V inverse = V(1.0) / u[0];
    smallest = min(u[0], smallest);
    smallest = select_positive(abs(u[0]), smallest, V(-1.0));
    put(inv_d, j, inverse);
    const int slot = j % B;
    for (int e = 1; e <= B; ++e) {
      const V f = u[e] * inverse;
      ring_u[slot][e] = u[e];
      ring_l[slot][e] = f;
      put(l, j * B + e - 1, f);
    }
  }
  return smallest;
}

/// Solves L D L^T x = b in place, rhs[n]. 2 n B operations.
template <class V, int B>
FL_LANE_HD inline void solve(int n, const double* l, const double* inv_d, double* rhs) {
  V z[B];
  for (int k = 0; k < B; ++k) z[k] = V(0.0);
  for (int j = 0; j < n; ++j) {
    V s = at<V>(rhs, j);
    for (int k = B; k >= 1; --k) {
      if (j >= k) s = fnma(at<V>(l, (j - k) * B + k - 1), z[k - 1], s);
    }
    for (int k = B - 1; k >= 1; --k) z[k] = z[k - 1];
    z[0] = s;
    put(rhs, j, s);
  }
  for (int k = 0; k < B; ++k) z[k] = V(0.0);
  for (int j = n - 1; j >= 0; --j) {
    V s = at<V>(rhs, j) * at<V>(inv_d, j);
    for (int k = B; k >= 1; --k) s = fnma(at<V>(l, j * B + k - 1), z[k - 1], s);
    for (int k = B - 1; k >= 1; --k) z[k] = z[k - 1];
    z[0] = s;
    put(rhs, j, s);
  }
}

/// Entries (j, j + e), e = 0..width, of the inverse by the Takahashi recurrence; width >= B.
/// z[n + width][width + 1]: the last `width` rows must be zero on entry. n B width operations.
template <class V, int B>
FL_LANE_HD inline void selected_inverse(int n, const double* l, const double* inv_d, int width,
                                        double* z) {
  const int row = width + 1;
  for (int j = n - 1; j >= 0; --j) {
    V f[B];
    for (int k = 0; k < B; ++k) f[k] = at<V>(l, j * B + k);
    for (int e = width; e >= 1; --e) {
      V s(0.0), s2(0.0);
      for (int k = 1; k <= B; ++k) {
        const int lo = k < e ? k : e, gap = k < e ? e - k : k - e;
        const V term = at<V>(z, (j + lo) * row + gap);
        if (k % 2 == 0) {
          s = fnma(f[k - 1], term, s);
        } else {
          s2 = fnma(f[k - 1], term, s2);
        }
      }
      put(z, j * row + e, s + s2);
    }
    V d = at<V>(inv_d, j);
    for (int k = 1; k <= B; ++k) d = fnma(f[k - 1], at<V>(z, j * row + k), d);
    put(z, j * row, d);
  }
}

/// Adds one pole c (I - t (S + t I)^-1) of the square root of S: to q[n][nd + 1] its entries (j, j + e),
/// e <= nd <= B, to q1[n] and qx[n] its products with `ones` and `x`. Work: l[n][B], inv_d[n], v1[n], vx[n].
/// Returns the smallest pivot.
template <class V, int B>
FL_LANE_HD inline V root_pole(int n, const double* s, V t, V c, const double* ones, const double* x,
                              int nd, double* l, double* inv_d, double* v1, double* vx, double* q,
                              double* q1, double* qx) {
  V ring_u[B][B + 1], ring_l[B][B + 1], z1[B], zx[B];
  for (int k = 0; k < B; ++k) {
    for (int e = 0; e <= B; ++e) ring_u[k][e] = ring_l[k][e] = V(0.0);
    z1[k] = zx[k] = V(0.0);
  }
  V smallest(1e300);
  for (int j = 0; j < n; ++j) {
    V u[B + 1];
    for (int e = 0; e <= B; ++e) u[e] = at<V>(s, j * (B + 1) + e);
    u[0] += t;
    V a = at<V>(ones, j), b = at<V>(x, j);
    for (int k = B; k >= 1; --k) {
      const int slot = (j + B - k) % B;
      const V f = ring_l[slot][k];
      for (int e = 0; e <= B - k; ++e) u[e] = fnma(f, ring_u[slot][k + e], u[e]);
      a = fnma(f, z1[slot], a);
      b = fnma(f, zx[slot], b);
    }
    const V inverse = V(1.0) / u[0];
    smallest = min(u[0], smallest);
    put(inv_d, j, inverse);
    const int slot = j % B;
    z1[slot] = a;
    zx[slot] = b;
    put(v1, j, a);
    put(vx, j, b);
    for (int e = 1; e <= B; ++e) {
      const V f = u[e] * inverse;
      ring_u[slot][e] = u[e];
      ring_l[slot][e] = f;
      put(l, j * B + e - 1, f);
    }
  }
  // Backward: both solves and the selected inverse; its last B rows live in a ring.
  V zr[B][B + 1];
  for (int k = 0; k < B; ++k) {
    for (int e = 0; e <= B; ++e) zr[k][e] = V(0.0);
    z1[k] = zx[k] = V(0.0);
  }
  const V ct = c * t;
  for (int j = n - 1; j >= 0; --j) {
    const V inverse = at<V>(inv_d, j);
    V f[B + 1];
    V a = at<V>(v1, j) * inverse, b = at<V>(vx, j) * inverse;
    for (int k = B; k >= 1; --k) {
      f[k] = at<V>(l, j * B + k - 1);
      const int slot = (j + k) % B;
      a = fnma(f[k], z1[slot], a);
      b = fnma(f[k], zx[slot], b);
    }
    V w[B + 1];
    for (int e = B; e >= 1; --e) {
      V sum(0.0);
      for (int k = B; k >= 1; --k) {
        const int lo = k < e ? k : e, gap = k < e ? e - k : k - e;
        sum = fnma(f[k], zr[(j + lo) % B][gap], sum);
      }
      w[e] = sum;
    }
    V d = inverse;
    for (int k = B; k >= 1; --k) d = fnma(f[k], w[k], d);
    w[0] = d;
    const int slot = j % B;
    for (int e = 0; e <= B; ++e) zr[slot][e] = w[e];
    z1[slot] = a;
    zx[slot] = b;
    put(q1, j, fma(c, at<V>(ones, j), fnma(ct, a, at<V>(q1, j))));
    put(qx, j, fma(c, at<V>(x, j), fnma(ct, b, at<V>(qx, j))));
    put(q, j * (nd + 1), fnma(ct, d, at<V>(q, j * (nd + 1))) + c);
    for (int e = 1; e <= nd; ++e) {
      put(q, j * (nd + 1) + e, fnma(ct, w[e], at<V>(q, j * (nd + 1) + e)));
    }
  }
  return smallest;
}

/// Congruence E = C^T Z C in the band: e[n][band + 1] with E[k, k + d]. `columns` holds C by columns,
/// columns[n][2 h + 1], entry (m, h + g) = C[m + g, m]; z is a selected inverse of width >= band + 2 h,
/// z[n + ...][width + 1]. t: scratch for band + 2 h + 1 elements. n (2 h + 1)(2 band + 2 h + 2) operations.
template <class V>
FL_LANE_HD inline void congruence(int n, int h, const double* columns, int width, const double* z,
                                  int band, double* t, double* e) {
  const int row = width + 1, c_row = 2 * h + 1;
  for (int m = 0; m < n; ++m) {
    const int a_first = m - band - h < 0 ? 0 : m - band - h;
    const int a_last = m + h < n ? m + h : n - 1;
    const int b_first = m - h < 0 ? 0 : m - h, b_last = a_last;
    const double* cm = columns + static_cast<long>(m * c_row + h - m) * kStride;
    for (int a = a_first; a <= a_last; ++a) {
      V s(0.0), s2(0.0);
      const int split = a < b_first ? b_first : a;
      int b = b_first;
      for (; b < split; ++b) s = fma(at<V>(z, b * row + a - b), at<V>(cm, b), s);
      for (; b <= b_last; ++b) s2 = fma(at<V>(z, a * row + b - a), at<V>(cm, b), s2);
      put(t, a - a_first, s + s2);
    }
    for (int k = m - band < 0 ? 0 : m - band; k <= m; ++k) {
      const int first = k - h < 0 ? 0 : k - h, last = k + h < n ? k + h : n - 1;
      const double* ck = columns + static_cast<long>(k * c_row + h - k) * kStride;
      V s(0.0), s2(0.0);
      int a = first;
      for (; a + 1 <= last; a += 2) {
        s = fma(at<V>(ck, a), at<V>(t, a - a_first), s);
        s2 = fma(at<V>(ck, a + 1), at<V>(t, a + 1 - a_first), s2);
      }
      if (a <= last) s = fma(at<V>(ck, a), at<V>(t, a - a_first), s);
      put(e, k * (band + 1) + m - k, s + s2);
    }
  }
}

}  // namespace fiberloom::lane
