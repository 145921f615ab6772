// SPDX-License-Identifier: BSD-3-Clause
// The Gaussian integrals over coefficients, a redshift a lane (scan_kernels.hpp has the contract).
// Seen by .cu.
#pragma once

#include <cmath>

#include "fiberloom/foundation.hpp"
#include "fiberloom/redshift/scan_kernels.hpp"
#include "loom/linalg/lane_loops.hpp"

namespace fiberloom::redshift::lane {

using loom::lane::at;
using loom::lane::put;

/// One brightness: gain and two products of ratios, the determinant in halves.
template <class V, int NB>
[[gnu::always_inline]] FL_LANE_HD inline void evidence_at(int nb_runtime, const double* normal,
                                                          const double* precision,
                                                          const double* weighted_mean, V inverse_a,
                                                          double* out) {
  constexpr int most = NB > 0 ? NB : kMostBasis;
  const int nb = NB > 0 ? NB : nb_runtime;
  V l[triangle(most)], inverse[most], scale[most], z[most];
  const auto index = [=](int a, int b) { return a * nb - a * (a - 1) / 2 + b - a; };
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

template <class V, int NB = 0>
FL_LANE_HD inline void evidence(int nb_runtime, const double* normal, int components,
                                const double* table, double* out) {
  constexpr double kStep = 1.4918246976412703;  // exp(0.4)
  const int nb = NB > 0 ? NB : nb_runtime;
  const int tri = triangle(nb);
  const auto index = [=](int a, int b) { return a * nb - a * (a - 1) / 2 + b - a; };
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
      for (int k = kBrightnesses / 2; k < n; ++k) factor *= kStep;
      for (int k = n; k < kBrightnesses / 2; ++k) factor /= kStep;
      evidence_at<V, NB>(nb, normal, precision, weighted_mean, V(1.0) / (middle * V(factor)),
                         out + (c * kBrightnesses + n) * 3 * kLanes);
    }
  }
}

/// log p of one lane from what evidence() left in `parts` (constant[component] added), whose first
/// third is overwritten.
[[gnu::always_inline]] FL_LANE_HD inline double evidence_sum(int components, const double* constant,
                                                             double* parts) {
  const int count = components * kBrightnesses;
  double most = -HUGE_VAL;
  for (int k = 0; k < count; ++k) {
    double* const p = parts + 3L * kLanes * k;
    p[0] =
        constant[k / kBrightnesses] + 0.5 * p[0] - 0.5 * (::log(p[kLanes]) + ::log(p[2 * kLanes]));
    most = most < p[0] ? p[0] : most;
  }
  double sum = 0;
  for (int k = 0; k < count; ++k) sum += ::exp(parts[3L * kLanes * k] - most);
  return most + ::log(sum);
}

}  // namespace fiberloom::redshift::lane
