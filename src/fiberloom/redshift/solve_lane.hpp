// SPDX-License-Identifier: BSD-3-Clause
// Normal equations solved, a redshift a lane (scan_kernels.hpp has the contract). Seen by .cu.
#pragma once

#include "fiberloom/foundation.hpp"
#include "fiberloom/redshift/scan_kernels.hpp"
#include "loom/linalg/lane_loops.hpp"

namespace fiberloom::redshift::lane {

using loom::lane::at;
using loom::lane::put;

/// Right-looking would touch memory more; a row at a time, as the triangle is stored.
template <class V, int NB = 0>
FL_LANE_HD inline void solve(int nb_runtime, const double* normal, double least_pivot, double* gain,
                             double* c, double* rank) {
  constexpr int most = NB > 0 ? NB : kMostBasis;
  const int nb = NB > 0 ? NB : nb_runtime;
  V l[triangle(most)], inverse[most], scale[most], z[most];
  const auto index = [=](int a, int b) { return a * nb - a * (a - 1) / 2 + b - a; };
  V total(0.0), counted(0.0);
  for (int a = 0; a < nb; ++a) {
    const V d = at<V>(normal, index(a, a));
    scale[a] = select_positive(d, V(1.0) / sqrt(max(d, V(1e-300))), V(0.0));
  }
  for (int j = 0; j < nb; ++j) {  // row j of U, M = U^T U
    V pivot = at<V>(normal, index(j, j)) * scale[j] * scale[j];
    V rhs = at<V>(normal, triangle(nb) + j) * scale[j];
    for (int k = 0; k < j; ++k) {
      const V u = l[index(k, j)];
      pivot = fnma(u, u, pivot);
      rhs = fnma(u, z[k], rhs);
    }
    const V good = pivot - V(least_pivot);
    inverse[j] = select_positive(good, V(1.0) / sqrt(max(pivot, V(1e-300))), V(0.0));
    counted += select_positive(good, V(1.0), V(0.0));
    z[j] = rhs * inverse[j];
    total = fma(z[j], z[j], total);
    for (int b = j + 1; b < nb; ++b) {
      V m = at<V>(normal, index(j, b)) * scale[j] * scale[b];
      for (int k = 0; k < j; ++k) m = fnma(l[index(k, j)], l[index(k, b)], m);
      l[index(j, b)] = m * inverse[j];
    }
  }
  for (int j = nb - 1; j >= 0; --j) {
    V x = z[j];
    for (int b = j + 1; b < nb; ++b) x = fnma(l[index(j, b)], z[b], x);
    z[j] = x * inverse[j];
    put(c, j, z[j] * scale[j]);
  }
  total.store(gain);
  counted.store(rank);
}

}  // namespace fiberloom::redshift::lane
