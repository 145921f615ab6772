// SPDX-License-Identifier: BSD-3-Clause
// Spots, one (fibre, bin) a thread: neighbouring threads share a fibre's coefficients.
#pragma once

#include "fiberloom/extract/exact/gpu/pixels_lane.hpp"
#include "fiberloom/psf/spots_lane.hpp"

namespace fiberloom::exact::gpu {

struct SpotArgs {
  const double *coef, *basis;  ///< [nfiber][nseries][ncoef], [ndomain][ncoef][basis_pitch]
  const int *domain, *used;
  int nseries, ncoef, degree_x, degree_y, has_tails;
  int plan_first;  ///< fibre 0 of the frame in the PSF
  const int* psf_fiber;
  long basis_pitch;
  TraceView trace;
  SpotStore store;
};

/// Threads: store.count x store.pitch.
template <int NX, int NY, int D>
struct SpotsKernel {
  using Args = SpotArgs;
  using V = WarpLane;
  FL_LANE_HD static void tails(const Args& a, const lane::SpotSeries<double>& series, long at,
                               double x, double y, V* tail) {
    const int base = 4 + (a.degree_x + 1) * (a.degree_y + 1);
    double p[5];
    for (int i = 0; i < 5; ++i) p[i] = lane::legendre<V>(series, base + i).v;
    for (int r = 0; r < a.store.ny; ++r) {
      for (int c = 0; c < a.store.nx; ++c) {
        const double dx = (a.trace.x0[at] + c - x) * p[2];
        const double dy = (a.trace.y0[at] + r - y) * p[3];
        const double r2 = dx * dx + dy * dy;
        tail[r * a.store.nx + c] = V(p[0] * r2 / ::pow(p[1] * p[1] + r2, 1.0 + 0.5 * p[4]));
      }
    }
  }
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [fiber, bin, outside] = SpotThread::of(thread, a.store);
    if (outside) return;
    const int nx = NX > 0 ? NX : a.store.nx, ny = NX > 0 ? NY : a.store.ny;
    const long at = a.trace.at(fiber, bin);
    double* out = a.store.at(0, bin, fiber);
    const long step = a.store.step();
    if (!a.trace.live[at]) {
      for (int p = 0; p < nx * ny; ++p) out[p * step] = 0.0;
      return;
    }
    constexpr int kX = NX > 0 ? NX : lane::kMaxStampX, kY = NX > 0 ? NY : lane::kMaxStampY;
    constexpr int kD = NX > 0 ? D : lane::kMaxDegree;
    V x[(kD + 1) * kX], y[(kD + 1) * kY], coef[(kD + 1) * (kD + 1)], value[kX * kY];
    V tail[NX > 0 ? 1 : kX * kY];
    const long fiber_coef = static_cast<long>(a.psf_fiber[fiber]) * a.nseries * a.ncoef;
    const lane::SpotSeries<double> series{a.coef + fiber_coef, a.domain, a.used,
                                          a.basis + bin,       a.ncoef,  a.basis_pitch};
    const double center_x = lane::legendre<V>(series, 0).v;
    const double center_y = lane::legendre<V>(series, 1).v;
    const V sx = lane::legendre<V>(series, 2), sy = lane::legendre<V>(series, 3);
    const int ncoef = NX > 0 ? (D + 1) * (D + 1) : (a.degree_x + 1) * (a.degree_y + 1);
    for (int c = 0; c < ncoef; ++c) coef[c] = lane::legendre<V>(series, 4 + c);
    lane::pixel_integrals<V, NX, D>(V(a.trace.x0[at] - 0.5 - center_x), sx, nx, a.degree_x, x);
    lane::pixel_integrals<V, NY, D>(V(a.trace.y0[at] - 0.5 - center_y), sy, ny, a.degree_y, y);
    const V* wings = nullptr;
    if constexpr (NX == 0) {
      if (a.has_tails) {
        tails(a, series, at, center_x, center_y, tail);
        wings = tail;
      }
    }
    const double total =
        lane::contract<V, NX, NY, D>(x, y, coef, wings, nx, ny, a.degree_x, a.degree_y, value).v;
    const double scale = total > 0 ? 1.0 / total : 0.0;
    for (int p = 0; p < nx * ny; ++p) out[p * step] = value[p].v * scale;
  }
};

}  // namespace fiberloom::exact::gpu
