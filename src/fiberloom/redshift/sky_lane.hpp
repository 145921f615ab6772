// SPDX-License-Identifier: BSD-3-Clause
// The sky's continuum in normal equations (sky_continuum.hpp), a redshift a lane. Seen by .cu.
#pragma once

#include "fiberloom/foundation.hpp"
#include "fiberloom/redshift/scan_kernels.hpp"
#include "loom/linalg/lane_loops.hpp"

namespace fiberloom::redshift::lane {

template <class V, int NB>
void project(int nb_runtime, long count, const double* pull, const double* t, double* u) {
  const int nb = NB > 0 ? NB : nb_runtime;
  V sum[NB > 0 ? NB : kMostBasis];
  FL_UNROLL
  for (int a = 0; a < nb; ++a) sum[a] = loom::lane::at<V>(u, a);
  for (long i = 0; i < count; ++i) {
    const V p(pull[i]);
    FL_UNROLL
    for (int a = 0; a < nb; ++a) sum[a] = fma(p, V::load(t + (i * nb + a) * kLanes), sum[a]);
  }
  FL_UNROLL
  for (int a = 0; a < nb; ++a) loom::lane::put(u, a, sum[a]);
}

template <class V>
FL_LANE_HD inline void take_out(int nb, const double* u, double beta, double weighted_flux,
                                double* normal) {
  int column = 0;
  for (int a = 0; a < nb; ++a) {
    const V scaled = V(beta) * loom::lane::at<V>(u, a);
    for (int b = a; b < nb; ++b, ++column) {
      loom::lane::put(normal, column,
                      fnma(scaled, loom::lane::at<V>(u, b), loom::lane::at<V>(normal, column)));
    }
    const int y = triangle(nb) + a;
    loom::lane::put(normal, y, fnma(scaled, V(weighted_flux), loom::lane::at<V>(normal, y)));
  }
}

}  // namespace fiberloom::redshift::lane
