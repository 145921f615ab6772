// SPDX-License-Identifier: BSD-3-Clause
// exp and erf for any lane type: one text for CPU and GPU, so that both give the same numbers to
// rounding. Within 2 ulp (simd/math_test.cpp checks it).
#pragma once

#include "loom/base/scalar_lane.hpp"

namespace loom::lane_math {

/// e^x in float32, 2 ulp on [-87, 88]; 0 below, e^88 above.
template <class V>
FL_LANE_HD inline V exp_float(V x) {
  const V clamped = min(max(x, V(-87.0)), V(88.0));
  const V n = round_even(clamped * V(0x1.715476p+0));
  const V r = fnma(n, V(0x1.7f7d1cp-20), fnma(n, V(0x1.62e4p-1), clamped));
  V p(1.0 / 5040);  // Taylor: |r| < 0.35 leaves 6e-9
  p = fma(p, r, V(1.0 / 720));
  p = fma(p, r, V(1.0 / 120));
  p = fma(p, r, V(1.0 / 24));
  p = fma(p, r, V(1.0 / 6));
  p = fma(p, r, V(0.5));
  const V scale = pow2(n);
  const V e = fma(scale, fma(p * r, r, r), scale);
  return select_positive(x + V(87.0), e, V(0.0));
}

/// e^x, faithful to about 1 ulp on [-708, 708]; 0 below, e^708 above.
template <class V>
FL_LANE_HD inline V exp(V x) {
  if constexpr (sizeof(typename V::Real) == sizeof(float)) return exp_float(x);
  const V clamped = min(max(x, V(-708.0)), V(708.0));
  const V n = round_even(clamped * V(0x1.71547652b82fep+0));
  // ln 2 in two parts, the first with 42 bits: n * high is exact with and without FMA
  const V r = fnma(n, V(0x1.ef35793c76730p-45), fnma(n, V(0x1.62e42fefa3800p-1), clamped));
  V p(0x1.1f9768aae67f3p-29);
  p = fma(p, r, V(0x1.af785e0a5dff9p-26));
  p = fma(p, r, V(0x1.27e4c357e96f5p-22));
  p = fma(p, r, V(0x1.71dde76a2f6d2p-19));
  p = fma(p, r, V(0x1.a01a01b27d6afp-16));
  p = fma(p, r, V(0x1.a01a01b802660p-13));
  p = fma(p, r, V(0x1.6c16c16c13a9cp-10));
  p = fma(p, r, V(0x1.111111110db75p-7));
  p = fma(p, r, V(0x1.555555555555dp-5));
  p = fma(p, r, V(0x1.5555555555562p-3));
  p = fma(p, r, V(0.5));
  const V scale = pow2(n);
  const V e =
      fma(scale, fma(p * r, r, r), scale);  // 2^n (1 + r + r^2 p), the large part added last
  return select_positive(x + V(708.0), e, V(0.0));
}

/// erfc(a) for a >= 0, given gauss = exp(-a^2), which the PSF kernel has at hand. Relative error
/// about 2e-16 times that of gauss.
template <class V>
FL_LANE_HD inline V erfc_given_gauss(V a, V gauss) {
  // (1 + 2 a) exp(a^2) erfc(a) is smooth in t = (a - k) / (a + k): Chebyshev fit, error 1.3e-16
  const V inverse = V(1.0) / ((a + V(3.75)) * fma(V(2.0), a, V(1.0)));
  const V t = (a - V(3.75)) * (inverse * fma(V(2.0), a, V(1.0)));
  V p(-0x1.6884628ace07ap-29);
  p = fma(p, t, V(-0x1.0cb63a80de2c5p-29));
  p = fma(p, t, V(0x1.12b326b5668bfp-25));
  p = fma(p, t, V(0x1.42d2ea1df7aecp-26));
  p = fma(p, t, V(-0x1.0ae6bf9452a1fp-22));
  p = fma(p, t, V(-0x1.b4c0937b25a0bp-25));
  p = fma(p, t, V(0x1.d39c1a3875509p-20));
  p = fma(p, t, V(-0x1.06de6954a39b5p-20));
  p = fma(p, t, V(-0x1.7fcc159f9a760p-17));
  p = fma(p, t, V(0x1.7799dcd2368cbp-16));
  p = fma(p, t, V(0x1.b13e13fe20445p-15));
  p = fma(p, t, V(-0x1.303ffbfe45e88p-12));
  p = fma(p, t, V(0x1.33fb5a5e7ca14p-12));
  p = fma(p, t, V(0x1.cc3a13daa5d95p-10));
  p = fma(p, t, V(-0x1.3f603c7e65d24p-7));
  p = fma(p, t, V(0x1.d0b0037036098p-6));
  p = fma(p, t, V(-0x1.e0d0fa6c16f3fp-5));
  p = fma(p, t, V(0x1.7a14188ae18fap-4));
  p = fma(p, t, V(-0x1.bda9309a35871p-4));
  p = fma(p, t, V(0x1.510169d093c18p-4));
  p = fma(p, t, V(0x1.d5f294816277ep-9));
  p = fma(p, t, V(-0x1.1f367683f8967p-3));
  p = fma(p, t, V(0x1.3ccda0b5d5dc2p+0));
  return gauss * p * (inverse * (a + V(3.75)));
}

/// erf(x), 2 ulp everywhere.
template <class V>
FL_LANE_HD inline V erf(V x) {
  const V a = abs(x);
  const V large = V(1.0) - erfc_given_gauss(a, lane_math::exp(-(x * x)));
  // near 0 that difference loses digits; the odd series does not
  const V z = a * a;
  V q(-0x1.eae4564a2a13bp-31);
  q = fma(q, z, V(0x1.e8bb9e22f336ep-27));
  q = fma(q, z, V(-0x1.5e2b6694f87c4p-23));
  q = fma(q, z, V(0x1.b9cbc0625dd5fp-20));
  q = fma(q, z, V(-0x1.f4d0e21fa7e3ap-17));
  q = fma(q, z, V(0x1.f9a3192693d85p-14));
  q = fma(q, z, V(-0x1.c02db3aae6fb8p-11));
  q = fma(q, z, V(0x1.565bcd0d1bdb8p-8));
  q = fma(q, z, V(-0x1.b82ce31282a90p-6));
  q = fma(q, z, V(0x1.ce2f21a042afap-4));
  q = fma(q, z, V(-0x1.812746b0379e6p-2));
  q = fma(q, z, V(0x1.20dd750429b6dp+0));
  const V magnitude = select_positive(V(0.8) - a, a * q, large);
  return select_positive(x, magnitude, -magnitude);
}

}  // namespace loom::lane_math
