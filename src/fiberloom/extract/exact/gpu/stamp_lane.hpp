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
  const int* psf_fiber;
  long basis_pitch;
  TraceView trace;
  SpotStore store;
};

/// What a thread needs of a fibre and bin.
struct SpotSeriesAt {
  lane::SpotSeries<double> series;
  double x, y, sigma_x, sigma_y;
  FL_LANE_HD SpotSeriesAt(const SpotArgs& a, int fiber, int bin)
      : series{a.coef + static_cast<long>(a.psf_fiber[fiber]) * a.nseries * a.ncoef,
               a.domain,
               a.used,
               a.basis + bin,
               a.ncoef,
               a.basis_pitch} {
    WarpLane first[4];
    lane::legendre_side_by_side<WarpLane, 4>(series, 0, first);
    x = first[0].v;
    y = first[1].v;
    sigma_x = first[2].v;
    sigma_y = first[3].v;
  }
  [[nodiscard]] FL_LANE_HD double at(int i) const { return lane::legendre<WarpLane>(series, i).v; }
};

/// Spots as they come, and what makes their sum 1. Blocks: of store.count x store.pitch; their
/// memory has the integrals across the dispersion.
template <int NX, int NY, int D>
struct SpotsKernel {
  using Args = SpotArgs;
  using V = WarpLane;
  static constexpr int kThreads = 64;
  static bool fits(int nx, int ny, int degree_x, int degree_y) {
    return nx == NX && ny == NY && degree_x == D && degree_y == D;
  }
  static std::size_t shared_bytes(const Args&) { return (D + 1) * NY * kThreads * sizeof(V); }
  static long blocks(const Args& a) {
    return (a.store.count * a.store.pitch + kThreads - 1) / kThreads;
  }
  FL_LANE_HD static int phases(const Args&) { return 1; }
  FL_LANE_HD static void run(int, long block, int thread, const Args& a, double* shared) {
    const auto [fiber, bin, outside] = SpotThread::of(block * kThreads + thread, a.store);
    if (outside) return;
    const HalvedDoubles& pixels = a.store.pixels;
    const long at = a.trace.at(fiber, bin), out = a.store.at(0, bin, fiber), step = a.store.step();
    double total = 0;
    if (a.trace.live[at]) {
      const SpotSeriesAt s(a, fiber, bin);
      total =
          lane::spot_by_columns<V, NX, NY, D>(
              V(a.trace.x0[at] - 0.5 - s.x), V(s.sigma_x), V(a.trace.y0[at] - 0.5 - s.y),
              V(s.sigma_y),
              [&](int c, V* some) { lane::legendre_side_by_side<V, D + 1>(s.series, 4 + c, some); },
              [=](int i) -> double& { return shared[i * kThreads + thread]; },
              [&](int p, V value) { pixels.put(out + p * step, value.v); })
              .v;
    } else {
      for (int p = 0; p < NX * NY; ++p) pixels.put(out + p * step, 0.0);
    }
    *a.store.scale_at(bin, fiber) = total > 0 ? 1.0 / total : 0.0;
  }
};

/// Of DESI's shape.
using DesiSpotsKernel = SpotsKernel<17, 11, 6>;

/// The same for stamps and degrees of any size, and wings.
struct AnySpotsKernel {
  using Args = SpotArgs;
  using V = WarpLane;
  FL_LANE_HD static void tails(const Args& a, const SpotSeriesAt& s, long at, V* tail) {
    const int base = 4 + (a.degree_x + 1) * (a.degree_y + 1);
    double p[5];
    for (int i = 0; i < 5; ++i) p[i] = s.at(base + i);
    for (int r = 0; r < a.store.ny; ++r) {
      for (int c = 0; c < a.store.nx; ++c) {
        const double dx = (a.trace.x0[at] + c - s.x) * p[2];
        const double dy = (a.trace.y0[at] + r - s.y) * p[3];
        const double r2 = dx * dx + dy * dy;
        tail[r * a.store.nx + c] = V(p[0] * r2 / ::pow(p[1] * p[1] + r2, 1.0 + 0.5 * p[4]));
      }
    }
  }
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [fiber, bin, outside] = SpotThread::of(thread, a.store);
    if (outside) return;
    const int nx = a.store.nx, ny = a.store.ny;
    const HalvedDoubles& pixels = a.store.pixels;
    const long at = a.trace.at(fiber, bin), out = a.store.at(0, bin, fiber), step = a.store.step();
    if (!a.trace.live[at]) {
      for (int p = 0; p < nx * ny; ++p) pixels.put(out + p * step, 0.0);
      *a.store.scale_at(bin, fiber) = 0.0;
      return;
    }
    constexpr int kX = lane::kMaxStampX, kY = lane::kMaxStampY, kD = lane::kMaxDegree;
    V x[(kD + 1) * kX], y[(kD + 1) * kY], coef[(kD + 1) * (kD + 1)], value[kX * kY], tail[kX * kY];
    const SpotSeriesAt s(a, fiber, bin);
    for (int c = 0; c < (a.degree_x + 1) * (a.degree_y + 1); ++c) coef[c] = V(s.at(4 + c));
    lane::pixel_integrals<V, 0, 0>(V(a.trace.x0[at] - 0.5 - s.x), V(s.sigma_x), nx, a.degree_x, x);
    lane::pixel_integrals<V, 0, 0>(V(a.trace.y0[at] - 0.5 - s.y), V(s.sigma_y), ny, a.degree_y, y);
    if (a.has_tails) tails(a, s, at, tail);
    const double total = lane::contract<V, 0, 0, 0>(x, y, coef, a.has_tails ? tail : nullptr, nx,
                                                    ny, a.degree_x, a.degree_y, value)
                             .v;
    for (int p = 0; p < nx * ny; ++p) pixels.put(out + p * step, value[p].v);
    *a.store.scale_at(bin, fiber) = total > 0 ? 1.0 / total : 0.0;
  }
};

}  // namespace fiberloom::exact::gpu
