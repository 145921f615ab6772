// SPDX-License-Identifier: BSD-3-Clause
// Spots and normal equations, one (fibre, bin) a thread; neighbouring threads are neighbouring
// fibres. Each kernel is a function of its thread's number and writes only what is its own: no
// barriers, no atomics, so that the same text runs on a CPU in any order.
#pragma once

#include "fiberloom/extract/exact/gpu/layout.hpp"
#include "fiberloom/psf/spots_lane.hpp"

namespace fiberloom::exact::gpu {

/// Where spots lie, by [bin][fibre], fibres padded. Corners were decided by the host.
struct TraceView {
  const int *x0, *y0;
  const unsigned char* live;
  long pitch;
  [[nodiscard]] FL_LANE_HD long at(int fiber, int bin) const { return bin * pitch + fiber; }
};

/// CCD pixels as they came: one of the two pointers is set for each.
struct CcdView {
  const float *image_f, *ivar_f;
  const double *image_d, *ivar_d;
  int nx, ny;
  [[nodiscard]] FL_LANE_HD bool inside(int x, int y) const {
    return x >= 0 && y >= 0 && x < nx && y < ny;
  }
  [[nodiscard]] FL_LANE_HD double weight(int x, int y) const {
    if (!inside(x, y)) return 0.0;
    const long i = static_cast<long>(y) * nx + x;
    return ivar_f != nullptr ? static_cast<double>(ivar_f[i]) : ivar_d[i];
  }
  [[nodiscard]] FL_LANE_HD double pixel(int x, int y) const {
    if (!inside(x, y)) return 0.0;
    const long i = static_cast<long>(y) * nx + x;
    return image_f != nullptr ? static_cast<double>(image_f[i]) : image_d[i];
  }
};

/// Stored spots of fibres [first, first + count): pixel p of (fibre, bin) at
/// data[(p nbin + bin) pitch + fibre - first].
struct SpotStore {
  double* data;
  int first, count, nbin, nx, ny;
  long pitch;
  [[nodiscard]] FL_LANE_HD double* at(int pixel, int bin, int fiber) const {
    return data + (static_cast<long>(pixel) * nbin + bin) * pitch + fiber - first;
  }
};

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

/// Threads: nbin x store.pitch.
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
    const int bin = static_cast<int>(thread / a.store.pitch);
    const int local = static_cast<int>(thread % a.store.pitch);
    if (bin >= a.store.nbin || local >= a.store.count) return;
    const int fiber = a.store.first + local;
    const int nx = NX > 0 ? NX : a.store.nx, ny = NX > 0 ? NY : a.store.ny;
    const long at = a.trace.at(fiber, bin);
    double* out = a.store.at(0, bin, fiber);
    const long step = static_cast<long>(a.store.nbin) * a.store.pitch;
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

struct AssembleArgs {
  Shape shape;
  TraceView trace;
  CcdView ccd;
  SpotStore store;
  NormalView n;
  int pair, offset, count;  ///< of ProductKernel: fibres f and f + pair, bin offsets from `offset`
};

/// y = (A^T W p) and phi = (A^T [w > 0]). Threads: nbin x store.pitch.
struct WeighKernel {
  using Args = AssembleArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int bin = static_cast<int>(thread / a.store.pitch);
    const int local = static_cast<int>(thread % a.store.pitch);
    if (bin >= a.store.nbin || local >= a.store.count) return;
    const int fiber = a.store.first + local;
    const long at = a.trace.at(fiber, bin);
    double y = 0, phi = 0;
    if (a.trace.live[at]) {
      const double* spot = a.store.at(0, bin, fiber);
      const long step = static_cast<long>(a.store.nbin) * a.store.pitch;
      for (int r = 0; r < a.store.ny; ++r) {
        for (int c = 0; c < a.store.nx; ++c) {
          const int px = a.trace.x0[at] + c, py = a.trace.y0[at] + r;
          const double w = a.ccd.weight(px, py), v = spot[(r * a.store.nx + c) * step];
          if (w > 0) {
            y += w * v * a.ccd.pixel(px, py);
            phi += v;
          }
        }
      }
    }
    *a.n.rhs.at(fiber, bin + a.shape.margin) = y;
    *a.n.phi.at(fiber, bin + a.shape.margin) = phi;
  }
};

/// Products of a weighted spot with up to kChunk spots of the same or another fibre. Threads: nbin
/// x store.pitch. NX: columns of a stamp, 0 for any.
template <int NX>
struct ProductKernel {
  using Args = AssembleArgs;
  static constexpr int kChunk =
      9;  // half of the 17 offsets of a coupling, the 8 of a diagonal block
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int bin = static_cast<int>(thread / a.store.pitch);
    const int local = static_cast<int>(thread % a.store.pitch);
    if (bin >= a.store.nbin || local >= a.store.count) return;
    const int fiber = a.store.first + local, other = fiber + a.pair;
    const bool there = a.pair == 0 || a.shape.neighbours(fiber, other);
    const int nx = NX > 0 ? NX : a.store.nx;
    const long step = static_cast<long>(a.store.nbin) * a.store.pitch;
    const long at = a.trace.at(fiber, bin);
    double sum[kChunk];
    int dx[kChunk], dy[kChunk], meets[kChunk];
    const double* b[kChunk];
    for (int i = 0; i < kChunk; ++i) {
      const int k = bin + a.offset + i;
      sum[i] = 0.0;
      meets[i] = there && i < a.count && k >= 0 && k < a.store.nbin && a.trace.live[at] &&
                 a.trace.live[a.trace.at(other, k)];
      b[i] = nullptr;
      dx[i] = dy[i] = 0;
      if (!meets[i]) continue;
      const long there_at = a.trace.at(other, k);
      dx[i] = a.trace.x0[at] - a.trace.x0[there_at];
      dy[i] = a.trace.y0[at] - a.trace.y0[there_at];
      meets[i] = dx[i] > -nx && dx[i] < nx && dy[i] > -a.store.ny && dy[i] < a.store.ny;
      b[i] = a.store.at(0, k, other);
    }
    const double* spot = a.store.at(0, bin, fiber);
    for (int r = 0; r < a.store.ny; ++r) {
      double wa[NX > 0 ? NX : lane::kMaxStampX];
      FL_UNROLL_ALL
      for (int c = 0; c < nx; ++c) {
        wa[c] = a.trace.live[at] ? a.ccd.weight(a.trace.x0[at] + c, a.trace.y0[at] + r) *
                                       spot[(r * nx + c) * step]
                                 : 0.0;
      }
      FL_UNROLL_ALL
      for (int i = 0; i < kChunk; ++i) {
        const int rb = r + dy[i];
        if (!meets[i] || rb < 0 || rb >= a.store.ny) continue;
        const double* row = b[i] + static_cast<long>(rb * nx + dx[i]) * step;
        FL_UNROLL_ALL
        for (int c = 0; c < nx; ++c) {
          const int cb = c + dx[i];
          if (cb >= 0 && cb < nx) sum[i] += wa[c] * row[c * step];
        }
      }
    }
    const Packs& out = a.pair == 0 ? a.n.own : a.n.cross[a.pair - 1];
    const int shift = a.pair == 0 ? 0 : a.shape.cross_band;
    for (int i = 0; i < kChunk; ++i) {
      if (i < a.count) *out.at(fiber, bin + a.shape.margin, a.offset + i + shift) = sum[i];
    }
  }
};

/// Exact median of the diagonal of N over a bundle's bins with phi > 0.5, digit by digit of its
/// bits (positive doubles sort as integers): 16 passes of 4 bits.
struct MedianState {
  unsigned long long bits[2];  ///< of the upper and the lower middle element
  long rank[2], total;
  double median;
};
struct MedianArgs {
  Shape shape;
  NormalView n;
  MedianState* state;  ///< [nbundle]
  unsigned* counts;    ///< [nbundle][chunks][2][16]
  int chunks, chunk_bins, pass;
};
FL_LANE_HD inline unsigned long long double_bits(double v) {
  unsigned long long bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
/// Threads: nbundle x chunks.
struct MedianCountKernel {
  using Args = MedianArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int bundle = static_cast<int>(thread / a.chunks);
    const int chunk = static_cast<int>(thread % a.chunks);
    if (bundle >= a.shape.nbundle) return;
    unsigned count[2][16];
    for (int i = 0; i < 16; ++i) count[0][i] = count[1][i] = 0;
    const int shift = 60 - 4 * a.pass;
    const MedianState& s = a.state[bundle];
    const int last = (chunk + 1) * a.chunk_bins;
    for (int j = chunk * a.chunk_bins; j < a.shape.nbin && j < last; ++j) {
      for (int f = a.shape.bundle_first[bundle]; f < a.shape.bundle_first[bundle + 1]; ++f) {
        if (!(*a.n.phi.at(f, j + a.shape.margin) > 0.5)) continue;
        const unsigned long long bits = double_bits(*a.n.own.at(f, j + a.shape.margin));
        for (int which = 0; which < 2; ++which) {
          const bool match = a.pass == 0 || (bits >> (shift + 4)) == (s.bits[which] >> (shift + 4));
          if (match) ++count[which][(bits >> shift) & 15];
        }
      }
    }
    unsigned* out = a.counts + thread * 32;
    for (int i = 0; i < 32; ++i) out[i] = count[i / 16][i % 16];
  }
};
/// Threads: nbundle.
struct MedianStepKernel {
  using Args = MedianArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    if (thread >= a.shape.nbundle) return;
    MedianState& s = a.state[thread];
    long count[2][16];
    for (int i = 0; i < 32; ++i) {
      long sum = 0;
      for (int c = 0; c < a.chunks; ++c) sum += a.counts[(thread * a.chunks + c) * 32 + i];
      count[i / 16][i % 16] = sum;
    }
    if (a.pass == 0) {
      s.total = 0;
      for (int i = 0; i < 16; ++i) s.total += count[0][i];
      s.rank[0] = s.total / 2;
      s.rank[1] = s.total % 2 == 0 ? s.total / 2 - 1 : s.total / 2;
      s.bits[0] = s.bits[1] = 0;
    }
    if (s.total == 0) {
      s.median = 1.0;  // nothing known about the bundle: any positive number will do
      return;
    }
    const int shift = 60 - 4 * a.pass;
    for (int which = 0; which < 2; ++which) {
      int digit = 0;
      while (digit < 15 && s.rank[which] >= count[which][digit])
        s.rank[which] -= count[which][digit++];
      s.bits[which] |= static_cast<unsigned long long>(digit) << shift;
    }
    double upper, lower;
    memcpy(&upper, &s.bits[0], sizeof upper);
    memcpy(&lower, &s.bits[1], sizeof lower);
    s.median = s.total % 2 == 0 ? 0.5 * (upper + lower) : upper;
  }
};

struct PriorArgs {
  Shape shape;
  NormalView n;
  const MedianState* median;
  double ridge, weak_prior;
};
/// As add_prior(); rows outside the grid become the identity's, times the median. Threads: rows x
/// padded fibres.
struct PriorKernel {
  using Args = PriorArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.shape.nfiber), row = thread / pitch;
    const int fiber = static_cast<int>(thread % pitch);
    if (row >= a.shape.rows() || fiber >= a.shape.nfiber) return;
    const double median = a.median[a.shape.bundle_of[fiber]].median;
    double& diagonal = *a.n.own.at(fiber, row);
    const bool inside = row >= a.shape.margin && row < a.shape.margin + a.shape.nbin;
    if (!inside || diagonal == 0.0) {
      diagonal = median;
      return;
    }
    diagonal += *a.n.phi.at(fiber, row) < kLeastInformation ? kWeakestPrior * median
                                                            : a.ridge + a.weak_prior * median;
  }
};

}  // namespace fiberloom::exact::gpu
