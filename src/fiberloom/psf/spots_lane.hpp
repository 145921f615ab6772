// SPDX-License-Identifier: BSD-3-Clause
// The Gauss-Hermite spot, one wavelength bin a lane. Plain views, no allocation; CPU and GPU run
// this text.
#pragma once

#include "fiberloom/foundation.hpp"
#include "loom/base/math_lane.hpp"

namespace fiberloom::lane {

/// Largest stamp and degree the kernel has room for.
inline constexpr int kMaxStampX = 32, kMaxStampY = 32, kMaxDegree = 12;

/// Views of one fibre's series for the bins of a pack.
template <class Real>
struct SpotSeries {
  const Real* coef;   ///< [nseries][ncoef]
  const int* domain;  ///< [nseries]
  const int* used;    ///< [nseries]: coefficients from here on are zero for every fibre
  const Real* basis;  ///< [ndomain][ncoef][pitch], at the first bin
  int ncoef;
  long pitch;
};

template <class V>
FL_LANE_HD inline V legendre(const SpotSeries<typename V::Real>& s, int series) {
  const auto* c = s.coef + series * s.ncoef;
  const auto* b = s.basis + s.domain[series] * s.ncoef * s.pitch;
  V sum = V(c[0]) * V::load(b);
  for (int k = 1; k < s.used[series]; ++k) sum = fma(V(c[k]), V::load(b + k * s.pitch), sum);
  return sum;
}

/// The same of N series from `first` on, term by term, so that N loads are under way and not one;
/// terms that only some of them have are zero in the others.
template <class V, int N>
FL_LANE_HD inline void legendre_side_by_side(const SpotSeries<typename V::Real>& s, int first,
                                             V* sum) {
  const auto* c = s.coef + first * s.ncoef;
  int most = 1;
  const typename V::Real* b[N];
  FL_UNROLL_ALL
  for (int i = 0; i < N; ++i) {
    most = s.used[first + i] > most ? s.used[first + i] : most;
    b[i] = s.basis + s.domain[first + i] * s.ncoef * s.pitch;
    sum[i] = V(c[i * s.ncoef]) * V::load(b[i]);
  }
  for (int k = 1; k < most; ++k) {
    FL_UNROLL_ALL
    for (int i = 0; i < N; ++i)
      sum[i] = fma(V(c[i * s.ncoef + k]), V::load(b[i] + k * s.pitch), sum[i]);
  }
}

inline constexpr double kLongestStep = 1.4;

/// The integral of a normal density over a step h from its derivatives at both ends, the two-point
/// Taylor (Obreshkov) formula of an even order. Written as phi(u) (even(u) +- odd(u)) for the end
/// and the beginning of the step; the polynomials' coefficients are polynomials in h. Error for
/// h <= kLongestStep: below 5e-16 of order 10, 1e-8 of order 6.
template <int kOrder>
struct StepIntegral {
  /// of u^i h^(k + 1); zero where i + k is odd
  double coefficient[kOrder + 1][kOrder + 1];
};

template <int q>
FL_LANE_HD constexpr StepIntegral<q> make_step_integral() {
  StepIntegral<q> s{};
  double hermite[q + 1][q + 1] = {};  // He_k, of u^i
  hermite[0][0] = hermite[1][1] = 1.0;
  for (int k = 2; k <= q; ++k) {
    for (int i = 0; i <= k; ++i) {
      hermite[k][i] = (i > 0 ? hermite[k - 1][i - 1] : 0.0) - (k - 1) * hermite[k - 2][i];
    }
  }
  double weight = 0.5;  // (q+1)! (2q+1-k)! / ((q-k)! (k+1)! (2q+2)!) of the k-th derivative
  for (int k = 0; k <= q; ++k) {
    for (int i = 0; i <= k; ++i) s.coefficient[i][k] = weight * hermite[k][i];
    weight *= static_cast<double>(q - k) / ((k + 2) * (2.0 * q + 1 - k));
  }
  return s;
}

/// Integrals over n unit pixels of the Hermite functions 0..degree, pixel by pixel: put(m, p,
/// integral), and done(p) after the last of a pixel. `first` is the lower edge of pixel 0 minus the
/// centre.
// Long: one walk from the middle outwards, both ways in straight lines.
template <class V, int N, int D, class Put, class Done>
FL_LANE_HD inline void walk_pixels(V first, V sigma, int n_runtime, int degree_runtime, Put put,
                                   Done done) {
  const int n = N > 0 ? N : n_runtime, degree = D > 0 ? D : degree_runtime;
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
  constexpr int kOrder = sizeof(typename V::Real) == sizeof(double) ? 10 : 6;
  constexpr StepIntegral<kOrder> kStep = make_step_integral<kOrder>();
  const bool fine = all_below(inverse, kLongestStep);
  V power[kOrder + 1];  // of u, times powers of the step
  FL_UNROLL
  for (int i = 0; i <= kOrder; ++i) {
    V sum(kStep.coefficient[i][i + (kOrder - i) / 2 * 2]);
    FL_UNROLL
    for (int k = i + (kOrder - i) / 2 * 2 - 2; k >= i; k -= 2) {
      sum = fma(sum, inverse * inverse, V(kStep.coefficient[i][k]));
    }
    power[i] = sum;
  }
  V rising = inverse;  // inverse^(i + 1)
  FL_UNROLL
  for (int i = 0; i <= kOrder; ++i) {
    power[i] *= rising;
    rising *= inverse;
  }
  V low[D > 0 ? D + 1 : kMaxDegree + 1];
  for (int p = 0; p <= n; ++p) {
    const V u = (first + V(static_cast<double>(p))) * inverse;
    const V e = gauss[p];
    const V g = e * V(-0.39894228040143267794);  // minus: the integral of He_m g is -He_{m-1} g
    if (fine) {
      const V u2 = u * u;
      V even = power[kOrder], odd = power[kOrder - 1];
      FL_UNROLL
      for (int i = kOrder - 2; i >= 0; i -= 2) {
        even = fma(even, u2, power[i]);
        if (i > 0) odd = fma(odd, u2, power[i - 1]);
      }
      even *= g;
      odd *= g * u;
      if (p > 0) put(0, p - 1, low[0] - (even + odd));
      low[0] = odd - even;
    } else {
      // only absolute accuracy counts in a difference of the two
      const V above =
          fnma(V(0.5), lane_math::erfc_given_gauss(abs(u) * V(0.70710678118654752440), e), V(0.5));
      const V cdf = select_positive(u, above, -above);
      if (p > 0) put(0, p - 1, cdf - low[0]);
      low[0] = cdf;
    }
    V h0(1.0), h1 = u;
    for (int m = 1; m <= degree; ++m) {
      const V value = h0 * g;
      if (p > 0) put(m, p - 1, value - low[m]);
      low[m] = value;
      const V h2 = fma(u, h1, h0 * V(-static_cast<double>(m)));
      h0 = h1;
      h1 = h2;
    }
    if (p > 0) done(p - 1);
  }
}

/// The same as a table, out[m * n + p].
template <class V, int N, int D>
FL_LANE_HD inline void pixel_integrals(V first, V sigma, int n_runtime, int degree_runtime,
                                       V* out) {
  const int n = N > 0 ? N : n_runtime;
  walk_pixels<V, N, D>(
      first, sigma, n_runtime, degree_runtime,
      [=](int m, int p, V integral) [[gnu::always_inline]] { out[m * n + p] = integral; },
      [](int) {});
}

/// What contract() leaves: all of a spot, or its core as it is, for those that have more to add.
enum class Contracted { kSpot, kCore };

/// core(r, p) = sum_i (sum_j c_ij Y_j(r)) X_i(p) into out[r * nx + p], with the tail, which may be
/// null, and clipped at 0; returns its sum.
template <class V, int NX, int NY, int D, Contracted what = Contracted::kSpot>
FL_LANE_HD inline V contract(const V* cx, const V* cy, const V* coef, const V* tail, int nx_runtime,
                             int ny_runtime, int dx_runtime, int dy_runtime, V* out) {
  const int nx = NX > 0 ? NX : nx_runtime, ny = NX > 0 ? NY : ny_runtime;
  const int dx = D > 0 ? D : dx_runtime, dy = D > 0 ? D : dy_runtime;
  // Two rows at a time, so that a coefficient or a column that is loaded serves both; the last row
  // of an odd number is done twice.
  V total(0.0);
  for (int first = 0; first < ny; first += 2) {
    const int second = first + 1 < ny ? first + 1 : first;
    V t0[D > 0 ? D + 1 : kMaxDegree + 1], t1[D > 0 ? D + 1 : kMaxDegree + 1];
    if constexpr (D == 0) {  // the compiler cannot see that the first i of them are all it takes
      for (int i = 0; i <= kMaxDegree; ++i) t0[i] = t1[i] = V(0.0);
    }
    FL_UNROLL
    for (int i = 0; i <= dx; ++i) {
      V s0 = coef[i] * cy[first], s1 = coef[i] * cy[second];
      FL_UNROLL
      for (int j = 1; j <= dy; ++j) {
        const V c = coef[j * (dx + 1) + i];
        s0 = fma(c, cy[j * ny + first], s0);
        s1 = fma(c, cy[j * ny + second], s1);
      }
      t0[i] = s0;
      t1[i] = s1;
    }
    V row0(0.0), row1(0.0);
    for (int p = 0; p < nx; ++p) {
      V s0 = t0[0] * cx[p], s1 = t1[0] * cx[p];
      FL_UNROLL
      for (int i = 1; i <= dx; ++i) {
        const V c = cx[i * nx + p];
        s0 = fma(t0[i], c, s0);
        s1 = fma(t1[i], c, s1);
      }
      if constexpr (what == Contracted::kSpot) {
        if (tail != nullptr) {
          s0 += tail[first * nx + p];
          s1 += tail[second * nx + p];
        }
        s0 = max(s0, V(0.0));
        s1 = max(s1, V(0.0));
      }
      row0 += s0;
      row1 += s1;
      out[first * nx + p] = s0;
      out[second * nx + p] = s1;
    }
    total += row0;
    if (second != first) total += row1;
  }
  return total;
}

/// pixel_integrals() and contract() for few registers of memory and many of arithmetic (GPU
/// threads): put(pixel, value) of each pixel of the stamp, column by column; returns their sum. The
/// operations of the two in the same order. coefs(c, out): coefficients c to c + D; y(i): memory
/// for (D + 1) NY integrals.
template <class V, int NX, int NY, int D, class Coefs, class Table, class Put>
FL_LANE_HD inline V spot_by_columns(V first_x, V sigma_x, V first_y, V sigma_y, Coefs coefs,
                                    Table y, Put put) {
  walk_pixels<V, NY, D>(
      first_y, sigma_y, NY, D, [&](int m, int p, V integral) { y(m * NY + p) = integral.v; },
      [](int) {});
  V t[D + 1][NY];  // sum_j c_ij Y_j(r)
  FL_UNROLL_ALL
  for (int i = 0; i <= D; ++i) {
    FL_UNROLL_ALL
    for (int r = 0; r < NY; ++r) t[i][r] = V(0.0);
  }
  // fifty series one after the other would not fit a cache of instructions
  FL_NO_UNROLL
  for (int j = 0; j <= D; ++j) {
    V c[D + 1];
    coefs(j * (D + 1), c);
    FL_UNROLL_ALL
    for (int i = 0; i <= D; ++i) {
      FL_UNROLL_ALL
      for (int r = 0; r < NY; ++r) t[i][r] = fma(c[i], V(y(j * NY + r)), t[i][r]);
    }
  }
  V x[D + 1], row[NY];
  FL_UNROLL_ALL
  for (int r = 0; r < NY; ++r) row[r] = V(0.0);
  FL_UNROLL_ALL
  for (int m = 0; m <= D; ++m) x[m] = V(0.0);
  walk_pixels<V, NX, D>(
      first_x, sigma_x, NX, D, [&](int m, int, V integral) { x[m] = integral; },
      [&](int p) {
        FL_UNROLL_ALL
        for (int r = 0; r < NY; ++r) {
          V s = t[0][r] * x[0];
          FL_UNROLL_ALL
          for (int i = 1; i <= D; ++i) s = fma(t[i][r], x[i], s);
          s = max(s, V(0.0));
          row[r] += s;
          put(r * NX + p, s);
        }
      });
  V total(0.0);
  FL_UNROLL_ALL
  for (int r = 0; r < NY; ++r) total += row[r];
  return total;
}

}  // namespace fiberloom::lane
