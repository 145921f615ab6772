// SPDX-License-Identifier: BSD-3-Clause
// Normal equations: products of weighted spots with those that they meet.
#pragma once

#include "fiberloom/extract/exact/gpu/pixels_lane.hpp"

namespace fiberloom::exact::gpu {

struct AssembleArgs {
  Shape shape;
  TraceView trace;
  CcdView ccd;
  SpotStore store;
  NormalView n;
  int first_bundle, own_band;  ///< of the store; most bins apart that spots of a fibre meet
  int pair, offset, count;  ///< of ProductKernel: fibres f and f + pair, bin offsets from `offset`
  int core, halo, tiles;    ///< of TileKernel: bins of a tile, those around it, tiles of a fibre
};

/// Sum over the pixels that two stamps share of left(pixel) right(pixel); the left one's corner
/// minus the other's is (dx, dy).
template <class Left, class Right>
FL_LANE_HD inline double overlap_sum(int nx, int ny, int dx, int dy, Left left, Right right) {
  const int r0 = dy < 0 ? -dy : 0, r1 = dy > 0 ? ny - dy : ny;
  const int c0 = dx < 0 ? -dx : 0, c1 = dx > 0 ? nx - dx : nx;
  double sum = 0;
  for (int r = r0; r < r1; ++r) {
    for (int c = c0; c < c1; ++c) sum += left(r * nx + c) * right((r + dy) * nx + dx + c);
  }
  return sum;
}

/// y = (A^T W p) and phi = (A^T [w > 0]). Threads: store.count x store.pitch.
struct WeighKernel {
  using Args = AssembleArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [fiber, bin, outside] = SpotThread::of(thread, a.store);
    if (outside) return;
    const long at = a.trace.at(fiber, bin), step = a.store.step();
    double y = 0, phi = 0;
    if (a.trace.live[at]) {
      const double *spot = a.store.at(0, bin, fiber), scale = *a.store.scale_at(bin, fiber);
      for (int r = 0; r < a.store.ny; ++r) {
        for (int c = 0; c < a.store.nx; ++c) {
          const int px = a.trace.x0[at] + c, py = a.trace.y0[at] + r;
          // all three are asked for before any is looked at
          const double w = a.ccd.weight(px, py), p = a.ccd.pixel(px, py);
          const double v = spot[(r * a.store.nx + c) * step] * scale;
          y += w > 0 ? w * v * p : 0.0;
          phi += w > 0 ? v : 0.0;
        }
      }
    }
    *a.n.rhs.at(fiber, bin + a.shape.margin) = y;
    *a.n.phi.at(fiber, bin + a.shape.margin) = phi;
  }
};

/// One product, straight from the store: what TileKernel leaves. Threads: count x store.count x
/// store.pitch.
struct ProductKernel {
  using Args = AssembleArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long each = a.store.count * a.store.pitch;
    const auto [fiber, bin, outside] = SpotThread::of(thread % each, a.store);
    const int offset = a.offset + static_cast<int>(thread / each);
    if (outside) return;
    const int other = fiber + a.pair, k = bin + offset, nx = a.store.nx;
    const long at = a.trace.at(fiber, bin);
    double sum = 0;
    if ((a.pair == 0 || a.shape.neighbours(fiber, other)) && k >= 0 && k < a.store.nbin &&
        a.trace.live[at] && a.trace.live[a.trace.at(other, k)]) {
      const long there = a.trace.at(other, k);
      const int x0 = a.trace.x0[at], y0 = a.trace.y0[at];
      const double *spot = a.store.at(0, bin, fiber), scale = *a.store.scale_at(bin, fiber);
      const double *met = a.store.at(0, k, other), met_scale = *a.store.scale_at(k, other);
      const long step = a.store.step();
      sum = overlap_sum(
          nx, a.store.ny, x0 - a.trace.x0[there], y0 - a.trace.y0[there],
          [&](int p) { return a.ccd.weight(x0 + p % nx, y0 + p / nx) * (spot[p * step] * scale); },
          [&](int p) { return met[p * step] * met_scale; });
    }
    if (a.pair == 0) {
      *a.n.own.at(fiber, bin + a.shape.margin, offset) = sum;
    } else {
      *a.n.cross[a.pair - 1].at(fiber, bin + a.shape.margin, a.shape.cross_band + offset) = sum;
    }
  }
};

/// All products of a tile of bins of a fibre with itself and with the next one; a block walks over
/// the fibres of a bundle, with the spots of two of them in its own memory. The same sums as
/// ProductKernel's. Blocks: bundles of the store x tiles.
struct TileKernel {
  using Args = AssembleArgs;
  static constexpr int kThreads = 512;
  /// Memory of a block: spots of two fibres, weighted spots of the core, corners of both.
  struct Shared {
    double* memory;  ///< offsets from it and no pointers, which would not be seen to be shared
    int pixels, width, core;
    FL_LANE_HD Shared(double* block, const Args& a)
        : memory(block),
          pixels(a.store.nx * a.store.ny),
          width(TileKernel::width(a)),
          core(a.core) {}
    [[nodiscard]] FL_LANE_HD double* spot(int slot) const { return memory + slot * pixels * width; }
    [[nodiscard]] FL_LANE_HD double* weighted() const { return memory + 2 * pixels * width; }
    [[nodiscard]] FL_LANE_HD int* x0(int slot) const {
      return reinterpret_cast<int*>(weighted() + pixels * core) + 2 * slot * width;
    }
    [[nodiscard]] FL_LANE_HD int* y0(int slot) const { return x0(slot) + width; }
  };
  FL_LANE_HD static int width(const Args& a) { return a.core + 2 * a.halo; }
  static std::size_t shared_bytes(const Args& a) {
    const auto pixels = static_cast<std::size_t>(a.store.nx * a.store.ny);
    const auto all = static_cast<std::size_t>(width(a)), core = static_cast<std::size_t>(a.core);
    return pixels * (2 * all + core) * sizeof(double) + 4 * all * sizeof(int);
  }
  /// A fibre's spots, then for each fibre: the next one's spots and its own weighted; its products.
  FL_LANE_HD static int phases(const Args& a) {
    int most = 0;
    for (int b = 0; b < a.shape.nbundle; ++b) {
      const int n = a.shape.bundle_first[b + 1] - a.shape.bundle_first[b];
      most = n > most ? n : most;
    }
    return 1 + 2 * most;
  }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* memory) {
    const int bundle = a.first_bundle + static_cast<int>(block / a.tiles);
    const int first_bin = static_cast<int>(block % a.tiles) * a.core;
    const int first = a.shape.bundle_first[bundle], last = a.shape.bundle_first[bundle + 1];
    const Shared s(memory, a);
    const int fiber = first + (phase + 1) / 2 - 1;
    if (phase % 2 == 0) {
      if (phase == 0) load(s, 0, first, first_bin, thread, a);
      if (phase > 0 && fiber < last) multiply(s, fiber - first, fiber, last, first_bin, thread, a);
      return;
    }
    if (fiber + 1 < last) load(s, (fiber + 1 - first) & 1, fiber + 1, first_bin, thread, a);
    if (fiber < last) weigh(s, (fiber - first) & 1, fiber, first_bin, thread, a);
  }

 private:
  FL_LANE_HD static void load(const Shared& s, int slot, int fiber, int first_bin, int thread,
                              const Args& a) {
    const int all = width(a), begin = first_bin - a.halo, n = a.store.nx * a.store.ny * all;
    for (int e = thread; e < n; e += kThreads) {
      const int bin = begin + e % all;
      s.spot(slot)[e] = bin >= 0 && bin < a.store.nbin
                            ? *a.store.at(e / all, bin, fiber) * *a.store.scale_at(bin, fiber)
                            : 0.0;
    }
    for (int i = thread; i < all; i += kThreads) {
      const int bin = begin + i;
      const bool there = bin >= 0 && bin < a.store.nbin;
      s.x0(slot)[i] = there ? a.trace.x0[a.trace.at(fiber, bin)] : 0;
      s.y0(slot)[i] = there ? a.trace.y0[a.trace.at(fiber, bin)] : 0;
    }
  }
  FL_LANE_HD static void weigh(const Shared& s, int slot, int fiber, int first_bin, int thread,
                               const Args& a) {
    const int all = width(a), n = a.store.nx * a.store.ny * a.core;
    for (int e = thread; e < n; e += kThreads) {
      const int i = e % a.core + a.halo, p = e / a.core, bin = first_bin + e % a.core;
      const bool live = bin < a.store.nbin && a.trace.live[a.trace.at(fiber, bin)];
      s.weighted()[e] =
          live ? a.ccd.weight(s.x0(slot)[i] + p % a.store.nx, s.y0(slot)[i] + p / a.store.nx) *
                     s.spot(slot)[p * all + i]
               : 0.0;
    }
  }
  /// Neighbouring threads: neighbouring bins. The longest sums first.
  FL_LANE_HD static void multiply(const Shared& s, int step, int fiber, int last, int first_bin,
                                  int thread, const Args& a) {
    const int cross = fiber + 1 < last ? 2 * a.shape.cross_band + 1 : 0;
    const int items = a.own_band + 1 + cross;
    for (int task = thread; task < items * a.core; task += kThreads) {
      const int item = task / a.core, i = task % a.core, bin = first_bin + i;
      if (bin >= a.store.nbin) continue;
      const int all = width(a), mine = i + a.halo, own = step & 1;
      const int c = item - 1 - a.own_band;  // 0, 1, 2, ... of the couplings: offset 0, -1, 1, ...
      const bool coupling = c >= 0;
      const int offset = coupling ? ((c & 1) != 0 ? -(c + 1) / 2 : c / 2) : item;
      const int slot = coupling ? 1 - own : own, other = mine + offset;
      const double *left = s.weighted() + i, *right = s.spot(slot) + other;
      const int dx = s.x0(own)[mine] - s.x0(slot)[other];
      const int dy = s.y0(own)[mine] - s.y0(slot)[other];
      const double sum = overlap_sum(
          a.store.nx, a.store.ny, dx, dy, [&](int p) { return left[p * a.core]; },
          [&](int p) { return right[p * all]; });
      const long row = bin + a.shape.margin;
      *(coupling ? a.n.cross[0].at(fiber, row, a.shape.cross_band + offset)
                 : a.n.own.at(fiber, row, offset)) = sum;
    }
  }
};

}  // namespace fiberloom::exact::gpu
