// SPDX-License-Identifier: BSD-3-Clause
// Banded symmetric kernels, one problem a lane: LDL^T, solves, selected inverse, one pole of the
// square root. The only text of these algorithms: simd/pack.hpp's Pack runs eight problems on a
// CPU, ScalarLane one on a GPU thread or in the reference. No allocation, no exceptions, no I/O.
//
// Layout: a symmetric matrix of n rows and half-bandwidth B is rows[n][B + 1][kLanes], entry (j, d)
// being M[j, j + d]. L is unit lower triangular, l(j, d - 1) = L[j + d, j]; inv_d = 1 / D. Rows
// past the end read as absent. Pointers address one lane; elements lie kLanes apart.
#pragma once

#include "fiberloom/base/scalar_lane.hpp"

namespace fiberloom::lane {

/// Doubles between neighbouring elements of one lane: 8 on a CPU, 32 for the threads of a GPU warp.
template <class V>
inline constexpr int lane_stride = 8;
template <int Stride>
inline constexpr int lane_stride<StridedLane<Stride>> = Stride;

template <class V>
FL_LANE_HD inline V at(const double* p, int index) {
  return V::load(p + static_cast<long>(index) * lane_stride<V>);
}
template <class V>
FL_LANE_HD inline void put(double* p, int index, V value) {
  value.store(p + static_cast<long>(index) * lane_stride<V>);
}

/// M + shift I = L D L^T. Writes l[n][B], inv_d[n]; returns the smallest pivot seen (not positive,
/// or NaN turned into -1, when the matrix is not positive definite; go on with care). n (B^2 / 2 +
/// B) operations.
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
    FL_UNROLL
    for (int e = 0; e <= B; ++e) u[e] = at<V>(matrix, j * (B + 1) + e);
    u[0] += shift;
    for (int k = B; k >= 1; --k) {  // oldest row first: the newest pivot arrives last
      const int slot = (j + B - k) % B;
      const V f = ring_l[slot][k];
      FL_UNROLL
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
  V z[B];  // solution of row r at r % B
  for (int k = 0; k < B; ++k) z[k] = V(0.0);
  for (int j = 0; j < n; ++j) {
    V s = at<V>(rhs, j);
    if (j >= B) {
      const double* diagonal =
          l + static_cast<long>(j) * B * lane_stride<V>;  // L[j, j - k] lies at -k B + k - 1
      FL_UNROLL
      for (int k = B; k >= 1; --k) s = fnma(at<V>(diagonal, -k * B + k - 1), z[(j + B - k) % B], s);
    } else {
      for (int k = j; k >= 1; --k) s = fnma(at<V>(l, (j - k) * B + k - 1), z[j - k], s);
    }
    z[j % B] = s;
    put(rhs, j, s);
  }
  for (int k = 0; k < B; ++k) z[k] = V(0.0);
  for (int j = n - 1; j >= 0; --j) {
    V s = at<V>(rhs, j) * at<V>(inv_d, j);
    FL_UNROLL
    for (int k = B; k >= 1; --k) s = fnma(at<V>(l, j * B + k - 1), z[(j + k) % B], s);
    z[j % B] = s;
    put(rhs, j, s);
  }
}

/// Entries (j, j + e), |e| <= width, of the inverse by the Takahashi recurrence; width >= B. Both
/// triangles are stored, z[n + width][2 width + 1], entry (j, width + e), so that rows are read
/// along memory. Whatever lies outside the matrix must be zero on entry and stays so. n B width
/// operations.
template <class V, int B>
FL_LANE_HD inline void selected_inverse(int n, const double* l, const double* inv_d, int width,
                                        double* z) {
  const int row = 2 * width + 1;
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
    FL_UNROLL
    for (int e = 0; e <= B; ++e) u[e] = at<V>(s, j * (B + 1) + e);
    u[0] += t;
    V a = at<V>(ones, j), b = at<V>(x, j);
    for (int k = B; k >= 1; --k) {
      const int slot = (j + B - k) % B;
      const V f = ring_l[slot][k];
      FL_UNROLL
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
    FL_UNROLL
    for (int e = 1; e <= B; ++e) {
      const V f = u[e] * inverse;
      ring_u[slot][e] = u[e];
      ring_l[slot][e] = f;
      put(l, j * B + e - 1, f);
    }
  }
  // Backward: both solves and the selected inverse. The inverse's last B rows live in a ring, both
  // triangles: entry (row % B, B + offset).
  V ring_z[B][2 * B + 1];
  for (int k = 0; k < B; ++k) {
    for (int e = 0; e <= 2 * B; ++e) ring_z[k][e] = V(0.0);
    z1[k] = zx[k] = V(0.0);
  }
  const V ct = c * t;
  for (int j = n - 1; j >= 0; --j) {
    const V inverse = at<V>(inv_d, j);
    V f[B + 1];
    V a = at<V>(v1, j) * inverse, b = at<V>(vx, j) * inverse;
    FL_UNROLL
    for (int k = B; k >= 1; --k) {
      f[k] = at<V>(l, j * B + k - 1);
      const int slot = (j + k) % B;
      a = fnma(f[k], z1[slot], a);
      b = fnma(f[k], zx[slot], b);
    }
    const int slot = j % B;
    V w[B + 1];
    V d = inverse, d2(0.0);
    for (int e = B; e >= 1; --e) {
      V* z_row = ring_z[(j + e) % B];
      V sum(0.0), sum2(0.0);
      FL_UNROLL
      for (int k = B; k >= 2; k -= 2) {
        sum = fnma(f[k], z_row[B - e + k], sum);
        sum2 = fnma(f[k - 1], z_row[B - e + k - 1], sum2);
      }
      w[e] = sum + sum2;
    }
    FL_UNROLL
    for (int k = B; k >= 2; k -= 2) {
      d = fnma(f[k], w[k], d);
      d2 = fnma(f[k - 1], w[k - 1], d2);
    }
    w[0] = d + d2;
    FL_UNROLL
    for (int e = 0; e < B; ++e) ring_z[slot][B + e] = w[e];
    FL_UNROLL
    for (int e = 1; e < B; ++e) ring_z[(j + e) % B][B - e] = w[e];
    z1[slot] = a;
    zx[slot] = b;
    put(q1, j, fma(c, at<V>(ones, j), fnma(ct, a, at<V>(q1, j))));
    put(qx, j, fma(c, at<V>(x, j), fnma(ct, b, at<V>(qx, j))));
    put(q, j * (nd + 1), fnma(ct, w[0], at<V>(q, j * (nd + 1))) + c);
    for (int e = 1; e <= nd; ++e) {
      put(q, j * (nd + 1) + e, fnma(ct, w[e], at<V>(q, j * (nd + 1) + e)));
    }
  }
  return smallest;
}

/// Congruence E = C^T Z C in the band: e[n][band + 1] with E[k, k + d]. `columns` holds C by
/// columns, columns[n][2 H + 1], entry (m, H + g) = C[m + g, m], zero where m + g is outside the
/// matrix; z is a selected inverse of width band + 2 H. t: scratch for band + 2 H + 1 elements. n
/// (2 H + 1)(2 band + 2 H + 2) operations.
template <class V, int H>
FL_LANE_HD inline void congruence(int n, const double* columns, const double* z, int band,
                                  double* t, double* e) {
  const int width = band + 2 * H, row = 2 * width + 1;
  constexpr int kColumn = 2 * H + 1;
  for (int m = 0; m < n; ++m) {
    V c[kColumn];
    FL_UNROLL
    for (int g = 0; g < kColumn; ++g) c[g] = at<V>(columns, m * kColumn + g);
    const int first = m - band - H, last = m + H < n ? m + H : n - 1;
    for (int a = first < 0 ? 0 : first; a <= last; ++a) {
      const double* z_row = z + static_cast<long>(a * row + width + m - H - a) * lane_stride<V>;
      V s(0.0), s2 = c[2 * H] * at<V>(z_row, 2 * H);
      FL_UNROLL
      for (int g = 0; g < 2 * H; g += 2) {
        s = fma(c[g], at<V>(z_row, g), s);
        s2 = fma(c[g + 1], at<V>(z_row, g + 1), s2);
      }
      put(t, a - first, s + s2);
    }
    for (int a = first; a < 0; ++a) put(t, a - first, V(0.0));
    for (int a = last + 1; a <= m + H; ++a) put(t, a - first, V(0.0));
    for (int k = m - band < 0 ? 0 : m - band; k <= m; ++k) {
      const double* ck = columns + static_cast<long>(k * kColumn) * lane_stride<V>;
      const double* tk = t + static_cast<long>(k - H - first) * lane_stride<V>;
      V s(0.0), s2 = at<V>(ck, 2 * H) * at<V>(tk, 2 * H);
      FL_UNROLL
      for (int g = 0; g < 2 * H; g += 2) {
        s = fma(at<V>(ck, g), at<V>(tk, g), s);
        s2 = fma(at<V>(ck, g + 1), at<V>(tk, g + 1), s2);
      }
      put(e, k * (band + 1) + m - k, s + s2);
    }
  }
}

}  // namespace fiberloom::lane
