// SPDX-License-Identifier: BSD-3-Clause
// Stockham's transform without a reordering step, radices 2, 3, 4, 5 and 8, on any lane type.
#pragma once

#include <cstddef>
#include <numbers>

#include "loom/base/scalar_lane.hpp"
#include "loom/fft/fft_kernels.hpp"

namespace loom::lane {

template <class V>
struct Complex {
  V re, im;
  FL_LANE_HD friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  FL_LANE_HD friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  FL_LANE_HD friend Complex operator*(V s, Complex a) { return {s * a.re, s * a.im}; }
};

/// sign i a
template <int Sign, class V>
FL_LANE_HD Complex<V> times_i(Complex<V> a) {
  if constexpr (Sign > 0) return {-a.im, a.re};
  return {a.im, -a.re};
}

template <class V>
FL_LANE_HD Complex<V> turned(Complex<V> a, V c, V s) {
  return {fnma(a.im, s, a.re * c), fma(a.re, s, a.im * c)};
}

/// a[0..R) becomes its transform.
template <int R, int Sign, class V>
FL_LANE_HD void small_transform(Complex<V>* a) {
  if constexpr (R == 2) {
    const Complex<V> t = a[0];
    a[0] = t + a[1];
    a[1] = t - a[1];
  } else if constexpr (R == 3) {
    const Complex<V> t = a[1] + a[2];
    const Complex<V> d = times_i<Sign>(V(std::numbers::sqrt3 / 2) * (a[1] - a[2]));
    const Complex<V> m = a[0] - V(0.5) * t;
    a[0] = a[0] + t;
    a[1] = m + d;
    a[2] = m - d;
  } else if constexpr (R == 4) {
    const Complex<V> t0 = a[0] + a[2], t1 = a[0] - a[2], t2 = a[1] + a[3];
    const Complex<V> t3 = times_i<Sign>(a[1] - a[3]);
    a[0] = t0 + t2;
    a[1] = t1 + t3;
    a[2] = t0 - t2;
    a[3] = t1 - t3;
  } else if constexpr (R == 5) {
    constexpr double kC1 = 0.309016994374947424, kC2 = -0.809016994374947424;  // cos 72, 144 deg
    constexpr double kS1 = 0.951056516295153572, kS2 = 0.587785252292473129;
    const Complex<V> t1 = a[1] + a[4], t2 = a[2] + a[3], t3 = a[1] - a[4], t4 = a[2] - a[3];
    const Complex<V> m1 = a[0] + V(kC1) * t1 + V(kC2) * t2;
    const Complex<V> m2 = a[0] + V(kC2) * t1 + V(kC1) * t2;
    const Complex<V> n1 = times_i<Sign>(V(kS1) * t3 + V(kS2) * t4);
    const Complex<V> n2 = times_i<Sign>(V(kS2) * t3 - V(kS1) * t4);
    a[0] = a[0] + t1 + t2;
    a[1] = m1 + n1;
    a[2] = m2 + n2;
    a[3] = m2 - n2;
    a[4] = m1 - n1;
  } else if constexpr (R == 8) {
    Complex<V> even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
    small_transform<4, Sign>(even);
    small_transform<4, Sign>(odd);
    const V half(std::numbers::sqrt2 / 2);
    const Complex<V> o1 = half * (odd[1] + times_i<Sign>(odd[1]));
    const Complex<V> o3 = half * (times_i<Sign>(odd[3]) - odd[3]);
    const Complex<V> o[4] = {odd[0], o1, times_i<Sign>(odd[2]), o3};
    FL_UNROLL
    for (int k = 0; k < 4; ++k) {
      a[k] = even[k] + o[k];
      a[k + 4] = even[k] - o[k];
    }
  }
}

/// Butterfly q of group g of a pass, twiddle factors `w` the group's own, of lanes [0, V::width)
/// from x (elements `step` apart, those from `count` on zero) to y.
template <class V, int R, int Sign>
FL_LANE_HD void butterfly(std::size_t groups, std::size_t stride, std::size_t g, std::size_t q,
                          const typename V::Real* w, const typename V::Real* x, std::size_t step,
                          std::size_t count, typename V::Real* y) {
  using Real = typename V::Real;
  constexpr std::size_t batch = 64 / sizeof(Real), element = 2 * batch;
  const std::size_t apart = groups * stride;
  Complex<V> a[R];
  FL_UNROLL
  for (int k = 0; k < R; ++k) {
    const std::size_t at = g * stride + q + static_cast<std::size_t>(k) * apart;
    if (at < count) {
      const Real* const from = x + at * step * element;
      a[k] = {V::load(from), V::load(from + batch)};
    } else {
      a[k] = {V(0.0), V(0.0)};
    }
  }
  small_transform<R, Sign>(a);
  Real* to = y + (g * static_cast<std::size_t>(R) * stride + q) * element;
  a[0].re.store(to);
  a[0].im.store(to + batch);
  FL_UNROLL
  for (int k = 1; k < R; ++k) {
    to += stride * element;
    const Complex<V> b = turned(a[k], V(w[2 * k - 2]), V(w[2 * k - 1]));
    b.re.store(to);
    b.im.store(to + batch);
  }
}

/// One pass of lanes [0, V::width).
template <class V, int R, int Sign>
void pass(const fft::Pass& p, const typename V::Real* twiddles, const typename V::Real* x,
          std::size_t step, std::size_t count, typename V::Real* y) {
  const typename V::Real* w = twiddles + p.twiddles;
  for (std::size_t g = 0; g < p.groups; ++g, w += 2 * (R - 1)) {
    for (std::size_t q = 0; q < p.stride; ++q) {
      butterfly<V, R, Sign>(p.groups, p.stride, g, q, w, x, step, count, y);
    }
  }
}

template <class V, int Sign>
void any_pass(const fft::Pass& p, const typename V::Real* twiddles, const typename V::Real* x,
              std::size_t step, std::size_t count, typename V::Real* y) {
  switch (p.radix) {
    case 8:
      return pass<V, 8, Sign>(p, twiddles, x, step, count, y);
    case 5:
      return pass<V, 5, Sign>(p, twiddles, x, step, count, y);
    case 4:
      return pass<V, 4, Sign>(p, twiddles, x, step, count, y);
    case 3:
      return pass<V, 3, Sign>(p, twiddles, x, step, count, y);
    case 2:
      return pass<V, 2, Sign>(p, twiddles, x, step, count, y);
    default:
      return pass<V, 1, Sign>(p, twiddles, x, step, count, y);
  }
}

/// All passes of all lanes; `work` holds two batches of the plan's length.
template <class V>
typename V::Real* transform(const fft::PlanView<typename V::Real>& plan, const typename V::Real* in,
                            std::size_t step, std::size_t count, typename V::Real* work) {
  using Real = typename V::Real;
  constexpr std::size_t batch = 64 / sizeof(Real);
  const std::size_t half = plan.length * 2 * batch;
  Real* result = work;
  for (std::size_t lane = 0; lane < batch; lane += V::width) {
    const Real* x = in + lane;
    std::size_t x_step = step, x_count = count;
    Real* y = work + lane;
    Real* other = y + half;
    for (std::size_t i = 0; i < plan.pass_count; ++i) {
      const fft::Pass& p = plan.passes[i];
      if (plan.sign > 0) {
        any_pass<V, 1>(p, plan.twiddles, x, x_step, x_count, y);
      } else {
        any_pass<V, -1>(p, plan.twiddles, x, x_step, x_count, y);
      }
      result = y - lane;
      x = y;
      x_step = 1;
      x_count = plan.length;
      Real* const next = other;
      other = y;
      y = next;
    }
  }
  return result;
}

}  // namespace loom::lane
