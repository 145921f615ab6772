// SPDX-License-Identifier: BSD-3-Clause
// The Gaussian integrals over coefficients, a redshift a lane (scan_kernels.hpp has the contract).
#pragma once

#include "fiberloom/foundation.hpp"
#include "fiberloom/redshift/scan_kernels.hpp"
#include "loom/linalg/lane_loops.hpp"

namespace fiberloom::redshift::lane {

using loom::lane::at;
using loom::lane::put;

/// One brightness: gain and two products of ratios, the determinant in halves.
template <class V>
[[gnu::always_inline]] inline void evidence_at(int nb, const double* normal,
                                               const double* precision, const double* weighted_mean,
                                               V inverse_a, double* out) {
  V l[kMostBasis * (kMostBasis + 1) / 2], inverse[kMostBasis], scale[kMostBasis], z[kMostBasis];
  const auto index = [nb](int a, int b) { return a * nb - a * (a - 1) / 2 + b - a; };
  const V inverse_a2 = inverse_a * inverse_a;
  V gain(0.0);
  V product[2] = {V(1.0), V(1.0)};
  for (int j = 0; j < nb; ++j) {
    const V prior = inverse_a2 * V(precision[index(j, j)]);
    const V diagonal = at<V>(normal, index(j, j)) + prior;
    scale[j] = V(1.0) / sqrt(max(diagonal, V(1e-300)));
    V pivot(1.0);
    V rhs = fma(inverse_a, V(weighted_mean[j]), at<V>(normal, triangle(nb) + j)) * scale[j];
    for (int k = 0; k < j; ++k) {
      const V u = l[index(k, j)];
      pivot = fnma(u, u, pivot);
      rhs = fnma(u, z[k], rhs);
    }
    pivot = max(pivot, V(1e-15));
    product[j % 2] = product[j % 2] * pivot * diagonal / max(prior, V(1e-300));
    inverse[j] = V(1.0) / sqrt(pivot);
    z[j] = rhs * inverse[j];
    gain = fma(z[j], z[j], gain);
    for (int b = j + 1; b < nb; ++b) {
      // scale[b] is not known yet: it is the same formula
      const V other = at<V>(normal, index(b, b)) + inverse_a2 * V(precision[index(b, b)]);
      V m = fma(inverse_a2, V(precision[index(j, b)]), at<V>(normal, index(j, b))) * scale[j] /
            sqrt(max(other, V(1e-300)));
      for (int k = 0; k < j; ++k) m = fnma(l[index(k, j)], l[index(k, b)], m);
      l[index(j, b)] = m * inverse[j];
    }
  }
  gain.store(out);
  product[0].store(out + kLanes);
  product[1].store(out + 2 * kLanes);
}

template <class V>
void evidence(int nb, const double* normal, int components, const double* table, double* out) {
  constexpr double kStep = 0.4;
  const int tri = triangle(nb);
  const auto index = [nb](int a, int b) { return a * nb - a * (a - 1) / 2 + b - a; };
  for (int c = 0; c < components; ++c) {
    const double* mean = table + c * evidence_doubles(nb);
    const double* precision = mean + nb;
    const double* weighted_mean = precision + tri;
    V power(0.0), signal(0.0);  // mu M mu, mu y
    for (int a = 0; a < nb; ++a) {
      signal = fma(V(mean[a]), at<V>(normal, tri + a), signal);
      for (int b = a; b < nb; ++b) {
        power = fma(V((a == b ? 1 : 2) * mean[a] * mean[b]), at<V>(normal, index(a, b)), power);
      }
    }
    power = max(power, V(1e-300));
    // the brightness that fits, or what the noise would hide
    const V middle = max(signal / power, V(1.0) / sqrt(power));
    for (int n = 0; n < kBrightnesses; ++n) {
      double factor = 1;
      const double step = __builtin_exp(kStep);
      for (int k = kBrightnesses / 2; k < n; ++k) factor *= step;
      for (int k = n; k < kBrightnesses / 2; ++k) factor /= step;
      evidence_at<V>(nb, normal, precision, weighted_mean, V(1.0) / (middle * V(factor)),
                     out + (c * kBrightnesses + n) * 3 * kLanes);
    }
  }
}

}  // namespace fiberloom::redshift::lane
