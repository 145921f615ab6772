// SPDX-License-Identifier: BSD-3-Clause
// The Gauss-Hermite spot, one wavelength bin a lane. Plain views, no allocation; CPU and GPU run
// this text.
#pragma once

#include "fiberloom/base/math_lane.hpp"

namespace fiberloom::lane {

/// Largest stamp and degree the kernel has room for.
inline constexpr int kMaxStampX = 32, kMaxStampY = 32, kMaxDegree = 12;

/// Views of one fibre's series for eight bins.
struct SpotSeries {
  const double* coef;   ///< [nseries][ncoef]
  const int* domain;    ///< [nseries]
  const int* used;      ///< [nseries]: coefficients from here on are zero for every fibre
  const double* basis;  ///< [ndomain][ncoef][pitch], at the first bin
  int ncoef;
  long pitch;
};

template <class V>
FL_LANE_HD inline V legendre(const SpotSeries& s, int series) {
  const double* c = s.coef + series * s.ncoef;
  const double* b = s.basis + s.domain[series] * s.ncoef * s.pitch;
  V sum = V(c[0]) * V::load(b);
  for (int k = 1; k < s.used[series]; ++k) sum = fma(V(c[k]), V::load(b + k * s.pitch), sum);
  return sum;
}

/// Integrals over n unit pixels of the Hermite functions 0..degree: out[m * n + p]. `first` is the
/// lower edge of pixel 0 minus the centre.
template <class V, int N, int D>
FL_LANE_HD inline void pixel_integrals(V first, V sigma, int n_runtime, int degree_runtime,
                                       V* out) {
  const int n = N > 0 ? N : n_runtime, degree = N > 0 ? D : degree_runtime;
  const V inverse = V(1.0) / sigma;
  // exp(-u^2 / 2) at equidistant edges: outward from the middle, where the products only shrink,
  // each edge follows from the one before by two multiplications. Their error grows to 40 ulp at
  // the ends, of values below 1e-7.
  constexpr int kRoom = N > 0 ? N + 1 : (kMaxStampX > kMaxStampY ? kMaxStampX : kMaxStampY) + 1;
  V gauss[kRoom];
  const int middle = n / 2;
  const V u_middle = (first + V(static_cast<double>(middle))) * inverse;
  const V q = lane_math::exp(-(inverse * inverse)), half = V(0.5) * inverse * inverse;
  gauss[middle] = lane_math::exp(u_middle * u_middle * V(-0.5));
  V ratio = lane_math::exp(-fma(u_middle, inverse, half));
  for (int p = middle + 1; p <= n; ++p) {
    gauss[p] = gauss[p - 1] * ratio;
    ratio *= q;
  }
  ratio = lane_math::exp(fma(u_middle, inverse, -half));
  for (int p = middle - 1; p >= 0; --p) {
    gauss[p] = gauss[p + 1] * ratio;
    ratio *= q;
  }
  V low[D > 0 ? D + 1 : kMaxDegree + 1];
  for (int p = 0; p <= n; ++p) {
    const V u = (first + V(static_cast<double>(p))) * inverse;
    const V e = gauss[p];
    // only absolute accuracy counts in a difference of the two
    const V above =
        fnma(V(0.5), lane_math::erfc_given_gauss(abs(u) * V(0.70710678118654752440), e), V(0.5));
    const V cdf = select_positive(u, above, -above);
    const V g = e * V(-0.39894228040143267794);  // minus: the integral of He_m g is -He_{m-1} g
    if (p > 0) out[p - 1] = cdf - low[0];
    low[0] = cdf;
    V h0(1.0), h1 = u;
    for (int m = 1; m <= degree; ++m) {
      const V value = h0 * g;
      if (p > 0) out[m * n + p - 1] = value - low[m];
      low[m] = value;
      const V h2 = fma(u, h1, h0 * V(-static_cast<double>(m)));
      h0 = h1;
      h1 = h2;
    }
  }
}

/// core(r, p) = sum_i (sum_j c_ij Y_j(r)) X_i(p), clipped at 0 into out[r * nx + p]; returns its
/// sum.
template <class V, int NX, int NY, int D>
FL_LANE_HD inline V contract(const V* cx, const V* cy, const V* coef, const V* tail, int nx_runtime,
                             int ny_runtime, int dx_runtime, int dy_runtime, V* out) {
  const int nx = NX > 0 ? NX : nx_runtime, ny = NX > 0 ? NY : ny_runtime;
  const int dx = NX > 0 ? D : dx_runtime, dy = NX > 0 ? D : dy_runtime;
  V total(0.0);
  for (int r = 0; r < ny; ++r) {
    V t[D > 0 ? D + 1 : kMaxDegree + 1];
    for (int i = 0; i <= dx; ++i) {
      V s = coef[i] * cy[r];
      for (int j = 1; j <= dy; ++j) s = fma(coef[j * (dx + 1) + i], cy[j * ny + r], s);
      t[i] = s;
    }
    V row(0.0);
    for (int p = 0; p < nx; ++p) {
      V s = t[0] * cx[p];
      for (int i = 1; i <= dx; ++i) s = fma(t[i], cx[i * nx + p], s);
      if (tail != nullptr) s += tail[r * nx + p];
      s = max(s, V(0.0));
      row += s;
      out[r * nx + p] = s;
    }
    total += row;
  }
  return total;
}

}  // namespace fiberloom::lane
