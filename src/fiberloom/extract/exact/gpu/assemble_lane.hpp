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
  int tiles;                ///< of TileKernel: those of a fibre
};

/// Sum over the pixels that two stamps share of left(pixel) right(pixel); the left one's corner
/// minus the other's is (dx, dy). Two rows side by side, and several of their pixels are asked for
/// before any is used.
template <class Left, class Right>
FL_LANE_HD inline double overlap_sum(int nx, int ny, int dx, int dy, Left left, Right right) {
  constexpr int kAtOnce = 4;
  const int r0 = dy < 0 ? -dy : 0, r1 = dy > 0 ? ny - dy : ny;
  const int c0 = dx < 0 ? -dx : 0, c1 = dx > 0 ? nx - dx : nx;
  double sum[2] = {0.0, 0.0};
  for (int r = r0; r < r1; r += 2) {
    const bool both = r + 1 < r1;
    const int one = r * nx, other = (r + dy) * nx + dx, next = both ? nx : 0;
    double l[2][kAtOnce], m[2][kAtOnce], row[2] = {0.0, 0.0};  // without another: the first twice
    const auto add = [&](int c, auto is_there) {
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        FL_UNROLL_ALL
        for (int k = 0; k < 2; ++k) {
          const bool there = is_there(i);
          l[k][i] = there ? left(one + k * next + c + i) : 0.0;
          m[k][i] = there ? right(other + k * next + c + i) : 0.0;
        }
      }
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        row[0] += l[0][i] * m[0][i];
        row[1] += l[1][i] * m[1][i];
      }
    };
    int c = c0;
    for (; c + kAtOnce <= c1; c += kAtOnce) add(c, [](int) { return true; });
    if (c < c1) add(c, [=](int i) { return c + i < c1; });
    sum[0] += row[0];
    sum[1] += both ? row[1] : 0.0;
  }
  return sum[0] + sum[1];
}

/// y = (A^T W p) and phi = (A^T [w > 0]), where there are no tiles: the same sums as TileKernel's,
/// of a spot's rows and then of these. Threads: store.count x store.pitch.
struct WeighKernel {
  using Args = AssembleArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [fiber, bin, outside] = SpotThread::of(thread, a.store);
    if (outside) return;
    const long at = a.trace.at(fiber, bin), step = a.store.step();
    double y = 0, phi = 0;
    for (int r = 0; r < a.store.ny && a.trace.live[at] != 0; ++r) {
      const long spot = a.store.at(r * a.store.nx, bin, fiber);
      const double scale = *a.store.scale_at(bin, fiber);
      double row_y = 0, row_phi = 0;
      for (int c = 0; c < a.store.nx; ++c) {
        const int px = a.trace.x0[at] + c, py = a.trace.y0[at] + r;
        const double w = a.ccd.weight(px, py), v = a.store.pixels.at(spot + c * step) * scale;
        row_y += w * v * (w > 0 ? a.ccd.pixel(px, py) : 0.0);
        row_phi += v * (w > 0 ? 1.0 : 0.0);
      }
      y += row_y;
      phi += row_phi;
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
      const HalvedDoubles& pixels = a.store.pixels;
      const long spot = a.store.at(0, bin, fiber), met = a.store.at(0, k, other);
      const double scale = *a.store.scale_at(bin, fiber), met_scale = *a.store.scale_at(k, other);
      const long step = a.store.step();
      sum = overlap_sum(
          nx, a.store.ny, x0 - a.trace.x0[there], y0 - a.trace.y0[there],
          [&](int p) {
            return a.ccd.weight(x0 + p % nx, y0 + p / nx) * (pixels.at(spot + p * step) * scale);
          },
          [&](int p) { return pixels.at(met + p * step) * met_scale; });
    }
    if (a.pair == 0) {
      *a.n.own.at(fiber, bin + a.shape.margin, offset) = sum;
    } else {
      *a.n.cross[a.pair - 1].at(fiber, bin + a.shape.margin, a.shape.cross_band + offset) = sum;
    }
  }
};

/// What the threads of a block of TileKernel share, of spots of nx x ny pixels.
inline std::size_t tile_bytes(int core, int halo, int nx, int ny) {
  const auto all = static_cast<std::size_t>(core + 2 * halo), c = static_cast<std::size_t>(core),
             rows = static_cast<std::size_t>(ny), pixels = static_cast<std::size_t>(nx) * rows;
  return (pixels * (all + c) + 2 * rows * c) * sizeof(double) + 2 * (all + c) * sizeof(int);
}

/// All products of a tile of bins of a fibre with itself and with the next one, right sides and
/// information; a block walks over the fibres of a bundle, with the spots of one of them in its own
/// memory and those of the tile's core, weighted, of that or of the one before. Small, so that
/// several blocks share a multiprocessor: while one loads another multiplies. The same sums as
/// ProductKernel's and WeighKernel's. kCore: bins of a tile, kHalo: those on either side that its
/// spots may meet; constants, so that a load's address is one of few registers and an offset.
/// Blocks: bundles of the store x tiles.
template <int kCore, int kHalo>
struct TileKernel {
  using Args = AssembleArgs;
  static constexpr int kWidth = kCore + 2 * kHalo;
  static constexpr int kThreads = 256, kSteps = 4;
  /// Memory of a block: spots of a fibre, weighted spots of the core, sums of their rows, corners.
  struct Shared {
    double* memory;  ///< offsets from it and no pointers, which would not be seen to be shared
    int pixels, rows;
    FL_LANE_HD Shared(double* block, const Args& a)
        : memory(block), pixels(a.store.nx * a.store.ny), rows(a.store.ny) {}
    [[nodiscard]] FL_LANE_HD double* spot() const { return memory; }
    [[nodiscard]] FL_LANE_HD double* weighted() const { return memory + pixels * kWidth; }
    [[nodiscard]] FL_LANE_HD double* row_y() const { return weighted() + pixels * kCore; }
    [[nodiscard]] FL_LANE_HD double* row_phi() const { return row_y() + rows * kCore; }
    [[nodiscard]] FL_LANE_HD int* x0() const {
      return reinterpret_cast<int*>(row_phi() + rows * kCore);
    }
    [[nodiscard]] FL_LANE_HD int* y0() const { return x0() + kWidth; }
    [[nodiscard]] FL_LANE_HD int* weighted_x0() const { return y0() + kWidth; }
    [[nodiscard]] FL_LANE_HD int* weighted_y0() const { return weighted_x0() + kCore; }
  };
  static std::size_t shared_bytes(const Args& a) {
    return tile_bytes(kCore, kHalo, a.store.nx, a.store.ny);
  }
  /// For each fibre: its spots; the one before's products with it; weighted; its own products.
  FL_LANE_HD static int phases(const Args& a) {
    int most = 0;
    for (int b = 0; b < a.shape.nbundle; ++b) {
      const int n = a.shape.bundle_first[b + 1] - a.shape.bundle_first[b];
      most = n > most ? n : most;
    }
    return kSteps * most;
  }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* memory) {
    const int bundle = a.first_bundle + static_cast<int>(block / a.tiles);
    const int first_bin = static_cast<int>(block % a.tiles) * kCore;
    const int first = a.shape.bundle_first[bundle], fiber = first + phase / kSteps;
    if (fiber >= a.shape.bundle_first[bundle + 1]) return;
    const Shared s(memory, a);
    switch (phase % kSteps) {
      case 0:
        load(s, fiber, first_bin, thread, a);
        break;
      case 1:
        if (fiber > first) multiply(s, fiber - 1, true, first_bin, thread, a);
        break;
      case 2:
        a.ccd.with_pixels([&](const auto* image, const auto* ivar) {
          weigh(s, image, ivar, fiber, first_bin, thread, a);
        });
        break;
      default:
        multiply(s, fiber, false, first_bin, thread, a);
        add_rows(s, fiber, first_bin, kThreads - 1 - thread, a);
    }
  }

 private:
  /// A thread: a bin and every so many of its pixels, several of them under way. Bins outside the
  /// grid are nothing times one inside.
  FL_LANE_HD static void load(const Shared& s, int fiber, int first_bin, int thread,
                              const Args& a) {
    constexpr int kAtOnce = 12;
    constexpr int kRows = kThreads / kWidth;
    const int i = thread % kWidth, wanted = first_bin - kHalo + i;
    if (thread >= kRows * kWidth) return;
    const bool there = wanted >= 0 && wanted < a.store.nbin;
    const int bin = there ? wanted : first_bin;
    const double scale = there ? *a.store.scale_at(bin, fiber) : 0.0;
    HalvedDoubles from = a.store.pixels.from(a.store.at(thread / kWidth, bin, fiber));
    const long stride = kRows * a.store.step();
    double* to = s.spot() + thread / kWidth * kWidth + i;
    const auto some = [&](int n) {
      std::uint32_t high[kAtOnce] = {}, low[kAtOnce] = {};
      FL_UNROLL_ALL
      for (int k = 0; k < kAtOnce; ++k) {
        if (k < n) {
          high[k] = *from.high;
          low[k] = *from.low;
          from = from.from(stride);
        }
      }
      FL_UNROLL_ALL
      for (int k = 0; k < kAtOnce; ++k) {
        if (k < n) to[k * kRows * kWidth] = HalvedDoubles::joined(high[k], low[k]) * scale;
      }
      to += kAtOnce * kRows * kWidth;
    };
    int left = (s.pixels - thread / kWidth + kRows - 1) / kRows;
    for (; left >= kAtOnce; left -= kAtOnce) some(kAtOnce);
    some(left);
    if (thread >= kWidth) return;
    s.x0()[i] = there ? a.trace.x0[a.trace.at(fiber, bin)] : 0;
    s.y0()[i] = there ? a.trace.y0[a.trace.at(fiber, bin)] : 0;
  }
  /// A thread: a bin of the core and a row of its pixels.
  template <class T>
  FL_LANE_HD static void weigh(const Shared& s, const T* image, const T* ivar, int fiber,
                               int first_bin, int thread, const Args& a) {
    constexpr int kAtOnce = 6;
    const int nx = a.store.nx;
    for (int e = thread; e < s.rows * kCore; e += kThreads) {
      const int i = e % kCore, r = e / kCore, mine = i + kHalo, bin = first_bin + i;
      const int x0 = s.x0()[mine], y0 = s.y0()[mine];
      const bool counts = bin < a.store.nbin && a.trace.live[a.trace.at(fiber, bin)] != 0 &&
                          a.ccd.inside(0, y0 + r);
      const int begin = x0 < 0 ? -x0 : 0;  // columns on the CCD
      const int end = !counts ? 0 : x0 + nx > a.ccd.nx ? a.ccd.nx - x0 : nx;
      unsigned at = a.ccd.index(x0, y0 + r);
      const double* spot = s.spot() + r * nx * kWidth + mine;
      double* weighted = s.weighted() + r * nx * kCore + i;
      double y = 0, phi = 0;
      for (int c = 0; c < nx; c += kAtOnce) {
        T weight[kAtOnce], pixel[kAtOnce];
        FL_UNROLL_ALL
        for (int k = 0; k < kAtOnce; ++k) {
          const bool there = c + k >= begin && c + k < end;
          weight[k] = there ? ivar[at] : T{0};
          pixel[k] = there ? image[at] : T{0};
          at += static_cast<unsigned>(a.ccd.ny);
        }
        FL_UNROLL_ALL
        for (int k = 0; k < kAtOnce; ++k) {
          if (c + k >= nx) continue;
          const bool good = weight[k] > 0;  // else the pixel may be no number
          const double v = spot[k * kWidth], wv = static_cast<double>(weight[k]) * v;
          weighted[k * kCore] = wv;
          y += wv * static_cast<double>(good ? pixel[k] : T{0});
          phi += v * (good ? 1.0 : 0.0);
        }
        spot += kAtOnce * kWidth;
        weighted += kAtOnce * kCore;
      }
      s.row_y()[e] = y;
      s.row_phi()[e] = phi;
      if (r > 0) continue;
      s.weighted_x0()[i] = x0;
      s.weighted_y0()[i] = y0;
    }
  }
  FL_LANE_HD static void add_rows(const Shared& s, int fiber, int first_bin, int thread,
                                  const Args& a) {
    if (thread >= kCore || first_bin + thread >= a.store.nbin) return;
    double y = 0, phi = 0;
    for (int r = 0; r < s.rows; ++r) {
      y += s.row_y()[r * kCore + thread];
      phi += s.row_phi()[r * kCore + thread];
    }
    const long row = first_bin + thread + a.shape.margin;
    *a.n.rhs.at(fiber, row) = y;
    *a.n.phi.at(fiber, row) = phi;
  }
  /// Of the weighted spots, which are `fiber`'s, with those that are there: its own, or the next
  /// one's. Neighbouring threads: neighbouring bins. The longest sums first.
  FL_LANE_HD static void multiply(const Shared& s, int fiber, bool coupling, int first_bin,
                                  int thread, const Args& a) {
    const int items = coupling ? 2 * a.shape.cross_band + 1 : a.own_band + 1;
    for (int task = thread; task < items * kCore; task += kThreads) {
      const int item = task / kCore, i = task % kCore, bin = first_bin + i;
      if (bin >= a.store.nbin) continue;
      // offset 0, -1, 1, ... of the couplings
      const int offset = !coupling ? item : (item & 1) != 0 ? -(item + 1) / 2 : item / 2;
      const int other = i + kHalo + offset;
      const double *left = s.weighted() + i, *right = s.spot() + other;
      const double sum = overlap_sum(
          a.store.nx, a.store.ny, s.weighted_x0()[i] - s.x0()[other],
          s.weighted_y0()[i] - s.y0()[other], [&](int p) { return left[p * kCore]; },
          [&](int p) { return right[p * kWidth]; });
      const long row = bin + a.shape.margin;
      *(coupling ? a.n.cross[0].at(fiber, row, a.shape.cross_band + offset)
                 : a.n.own.at(fiber, row, offset)) = sum;
    }
  }
};

}  // namespace fiberloom::exact::gpu
