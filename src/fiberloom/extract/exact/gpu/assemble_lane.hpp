// SPDX-License-Identifier: BSD-3-Clause
// Normal equations: products of weighted spots with those that they meet, eight bins with eight,
// and those straight from the store. (In tiles: tile_lane.hpp.)
#pragma once

#include "fiberloom/extract/exact/gpu/pixels_lane.hpp"
#include "loom/linalg/square_lane.hpp"

namespace fiberloom::exact::gpu {

struct AssembleArgs {
  Shape shape;
  TraceView trace;
  CcdView ccd;
  SpotStore store;
  NormalView n;
  int first_bundle, own_band;  ///< of the store; most bins apart that spots of a fibre meet
  int pair;                    ///< of ProductKernel: fibres f and f + pair
  int tiles;                   ///< of TileKernel: those of a fibre

  /// Eights of bins that spots of eight bins meet: as many on either side, or behind their own.
  [[nodiscard]] FL_LANE_HD int eights_met(bool coupling) const {
    return coupling ? 1 + 2 * lane::squares_of(shape.cross_band) : 1 + lane::squares_of(own_band);
  }
  /// Of those the nearest first, which have the longest sums: 0, -1, 1, ...
  FL_LANE_HD static int eight_met(int item, bool coupling) {
    return !coupling ? item : (item & 1) != 0 ? -(item + 1) / 2 : item / 2;
  }
  [[nodiscard]] FL_LANE_HD int inside(int bin) const {
    return bin < 0 ? 0 : bin < store.nbin ? bin : store.nbin - 1;
  }
  /// What a thread has of the products of bins from `first` with those from `other`.
  FL_LANE_HD void put(lane::SquareThread thread, lane::SquarePart sum, int fiber, int between,
                      int first, int other) const {
    const int bin = first + thread.row;
    if (bin >= store.nbin) return;
    const int band = between == 0 ? own_band : shape.cross_band;
    const int before = between == 0 ? 0 : band;
    double* to = (between == 0 ? n.own : n.cross[between - 1]).at(fiber, bin + shape.margin);
    FL_UNROLL_ALL
    for (int i = 0; i < 2; ++i) {
      const int offset = other + thread.column + i - bin;
      if (offset >= -before && offset <= band) to[(before + offset) * kWarp] = sum.v[i];
    }
  }
};

/// First and last corners of the spots of eight bins, of which those outside the grid have the
/// nearest one's.
struct Corners {
  int x0, y0, x1, y1;
  FL_LANE_HD static Corners of(const AssembleArgs& a, int fiber, int first_bin) {
    Corners c{};
    for (int i = 0; i < lane::kSide; ++i) {
      const long at = a.trace.at(fiber, a.inside(first_bin + i));
      const int x = a.trace.x0[at], y = a.trace.y0[at];
      c.x0 = i == 0 || x < c.x0 ? x : c.x0;
      c.y0 = i == 0 || y < c.y0 ? y : c.y0;
      c.x1 = i == 0 || x > c.x1 ? x : c.x1;
      c.y1 = i == 0 || y > c.y1 ? y : c.y1;
    }
    return c;
  }
};

/// Which of kRows rows, and of kAcross columns four apart, a spot of nx x ny pixels has: bits from
/// 1 on, since to ask for bit 0 takes a card three instructions, and all bits or none.
struct SpotPart {
  static constexpr int kRows = 28, kAcross = 3;
  unsigned rows, columns[kAcross];
  FL_LANE_HD static SpotPart of(int row, int column, int nx, int ny, bool live) {
    const int begin = row < 0 ? -row : 0, end = ny - row < kRows ? ny - row : kRows;
    SpotPart p{live && end > begin ? ~0U >> (32 - (end - begin)) << (begin + 1) : 0U, {}};
    FL_UNROLL_ALL
    for (int c = 0; c < kAcross; ++c)
      p.columns[c] = static_cast<unsigned>(column + 4 * c) < static_cast<unsigned>(nx) ? ~0U : 0U;
    return p;
  }
  [[nodiscard]] FL_LANE_HD bool has(int i, int c) const {
    return (rows & columns[c] & (2U << i)) != 0;
  }
};

/// Sums over pixels of left(bin, pixel) right(bin, pixel), of eight bins with eight: four rows of
/// the CCD and the columns of both, then the next four. at(bin, x, y) begins at a pixel: value(i,
/// c) is i rows and 4 c columns behind, 0 outside the spot, and next() goes on by four rows.
template <class Left, class Right>
FL_LANE_HD inline lane::SquarePart spot_products(lane::SquareThread thread, int nx, int ny,
                                                 const Corners& l, const Corners& r,
                                                 const Left& left, const Right& right) {
  constexpr int kAcross = SpotPart::kAcross;
  const int x_begin = l.x0 > r.x0 ? l.x0 : r.x0, x_end = (l.x1 < r.x1 ? l.x1 : r.x1) + nx;
  const int y_begin = l.y0 > r.y0 ? l.y0 : r.y0, y_end = (l.y1 < r.y1 ? l.y1 : r.y1) + ny;
  using Thread = lane::SquareThread;
  lane::SquarePart sum[2]{};
  for (int x = x_begin; x < x_end; x += 4 * kAcross) {
    for (int first = y_begin; first < y_end; first += SpotPart::kRows) {
      typename Left::Pixel from_left[Thread::kOfA];
      typename Right::Pixel from_right[Thread::kOfB];
      FL_UNROLL_ALL
      for (int n = 0; n < Thread::kOfA; ++n)
        from_left[n] = left.at(thread.a_row(n), x + thread.a_k(n), first);
      FL_UNROLL_ALL
      for (int n = 0; n < Thread::kOfB; ++n)
        from_right[n] = right.at(thread.b_column(n), x + thread.b_k(n), first);
      const int most = first + SpotPart::kRows, end = y_end < most ? y_end : most;
      FL_NO_UNROLL
      for (int y = first; y < end; y += 4) {
        FL_UNROLL_ALL
        for (int c = 0; c < kAcross; ++c) {
          if (x + 4 * c >= x_end) continue;
          FL_UNROLL_ALL
          for (int i = 0; i < 4; ++i) {
            double a[Thread::kOfA], b[Thread::kOfB];
            FL_UNROLL_ALL
            for (int n = 0; n < Thread::kOfA; ++n) a[n] = from_left[n].value(i, c);
            FL_UNROLL_ALL
            for (int n = 0; n < Thread::kOfB; ++n) b[n] = from_right[n].value(i, c);
            Thread::add(sum[i % 2], a, b);
          }
        }
        FL_UNROLL_ALL
        for (int n = 0; n < Thread::kOfA; ++n) from_left[n].next();
        FL_UNROLL_ALL
        for (int n = 0; n < Thread::kOfB; ++n) from_right[n].next();
      }
    }
  }
  return {{sum[0].v[0] + sum[1].v[0], sum[0].v[1] + sum[1].v[1]}};
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

/// Products straight from the store: what TileKernel leaves. A warp: eight bins of a fibre with
/// eight that they meet.
struct ProductKernel {
  using Args = AssembleArgs;
  static long threads(const Args& a) {
    return static_cast<long>(kWarp) * a.eights_met(a.pair > 0) * a.store.count *
           lane::squares_of(a.store.nbin);
  }
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int eights = lane::squares_of(a.store.nbin), warp = static_cast<int>(thread / kWarp);
    const int first = warp % eights * lane::kSide;
    const int fiber = a.store.first + warp / eights % a.store.count, other = fiber + a.pair;
    const int item = warp / eights / a.store.count;
    const int met = first + Args::eight_met(item, a.pair > 0) * lane::kSide;
    const lane::SquareThread mine(static_cast<int>(thread % kWarp));
    lane::SquarePart sum{};
    if (a.pair == 0 || a.shape.neighbours(fiber, other)) {
      sum = spot_products(mine, a.store.nx, a.store.ny, Corners::of(a, fiber, first),
                          Corners::of(a, other, met), Spots<true>{a, fiber, first},
                          Spots<false>{a, other, met});
    }
    a.put(mine, sum, fiber, a.pair, first, met);
  }

 private:
  template <bool Weighted>
  struct Spots {
    const Args& a;
    int fiber, first;
    struct Pixel {
      const Args* a;
      SpotPart part;
      long spot;
      double scale;
      int x, y;  ///< on the CCD
      [[nodiscard]] FL_LANE_HD double value(int i, int c) const {
        if (!part.has(i, c)) return 0.0;
        const long at = spot + (i * a->store.nx + 4 * c) * a->store.step();
        const double v = a->store.pixels.at(at) * scale;
        return Weighted ? a->ccd.weight(x + 4 * c, y + i) * v : v;
      }
      FL_LANE_HD void next() {
        y += 4;
        spot += 4 * a->store.nx * a->store.step();
        part.rows >>= 4;
      }
    };
    [[nodiscard]] FL_LANE_HD Pixel at(int i, int x, int y) const {
      const int bin = a.inside(first + i), nx = a.store.nx;
      const int row = y - a.trace.y0[a.trace.at(fiber, bin)];
      const int column = x - a.trace.x0[a.trace.at(fiber, bin)];
      return {&a,
              SpotPart::of(row, column, nx, a.store.ny, bin == first + i),
              a.store.at(row * nx + column, bin, fiber),
              *a.store.scale_at(bin, fiber),
              x,
              y};
    }
  };
};

}  // namespace fiberloom::exact::gpu
