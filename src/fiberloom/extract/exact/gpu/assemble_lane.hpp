// SPDX-License-Identifier: BSD-3-Clause
// Normal equations: products of weighted spots with those that they meet.
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
  [[nodiscard]] FL_LANE_HD int eights_beside(bool coupling) const {
    return lane::squares_of(coupling ? shape.cross_band : own_band);
  }
  [[nodiscard]] FL_LANE_HD int eights_met(bool coupling) const {
    return 1 + eights_beside(coupling) * (coupling ? 2 : 1);
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

/// What the threads of a block of TileKernel share, of spots of nx x ny pixels.
inline std::size_t tile_bytes(int core, int halo, int nx, int ny) {
  const auto all = static_cast<std::size_t>(core + 2 * halo), c = static_cast<std::size_t>(core),
             rows = static_cast<std::size_t>(ny), pixels = static_cast<std::size_t>(nx) * rows;
  return (pixels * (all + c) + 2 * rows * c) * sizeof(double) +
         (all + c) * (2 * sizeof(int) + sizeof(Corners) / lane::kSide);
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
  /// A thread weighs one row of a spot at a time: of DESI's 17 x 16 none twice.
  static constexpr int kThreads = kWidth > 72 ? 320 : 288, kSteps = 4;
  static constexpr int kBlocks = kWidth > 72 ? 1 : kWidth > 32 ? 2 : 3;  ///< its memory allows
  static constexpr int kEights = kCore / lane::kSide;

  /// `kPitch` neighbouring bins' spots in the block's memory, by pixel. Offsets from it and no
  /// pointers, which would not be seen to be shared.
  template <int kPitch>
  struct Spots {
    double* memory;
    Corners* eights;
    int *x0, *y0;
    int nx, ny, first = 0;  ///< bin that at(0, ...) asks for
    /// What a warp asks for at once, four pixels of a row of eight bins, lies in different banks.
    FL_LANE_HD static int place(int pixel, int bin) {
      return pixel * kPitch + (bin ^ (kPitch % 16 == 0 ? (pixel & 3) << 2 : (pixel & 2) << 1));
    }
    struct Pixel {
      const double* here[4];
      int four;
      SpotPart part;
      [[nodiscard]] FL_LANE_HD double value(int i, int c) const {
        return part.has(i, c) ? here[i][4 * c * kPitch] : 0.0;
      }
      FL_LANE_HD void next() {
        part.rows >>= 4;
        FL_UNROLL_ALL
        for (int i = 0; i < 4; ++i) here[i] += four;
      }
    };
    [[nodiscard]] FL_LANE_HD Pixel at(int i, int x, int y) const {
      const int bin = first + i, column = x - x0[bin], row = y - y0[bin];
      Pixel p{{}, 4 * nx * kPitch, SpotPart::of(row, column, nx, ny, true)};
      FL_UNROLL_ALL
      for (int r = 0; r < 4; ++r) p.here[r] = memory + place((row + r) * nx + column, bin);
      return p;
    }
    [[nodiscard]] FL_LANE_HD Spots from(int bin) const {
      Spots s = *this;
      s.first = bin;
      return s;
    }
  };
  /// Memory of a block: spots of a fibre, weighted spots of the core, sums of their rows.
  struct Shared {
    Spots<kWidth> spots;
    Spots<kCore> weighted;
    double *row_y, *row_phi;
    FL_LANE_HD Shared(double* block, const Args& a) {
      const int nx = a.store.nx, ny = a.store.ny;
      double* core = block + nx * ny * kWidth;
      row_y = core + nx * ny * kCore;
      row_phi = row_y + ny * kCore;
      auto* eights = reinterpret_cast<Corners*>(row_phi + ny * kCore);
      int* ints = reinterpret_cast<int*>(eights + (kWidth + kCore) / lane::kSide);
      spots = {block, eights, ints, ints + kWidth, nx, ny};
      ints += 2 * kWidth;
      weighted = {core, eights + kWidth / lane::kSide, ints, ints + kCore, nx, ny};
    }
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
    constexpr int kRows = kThreads / kWidth / 4 * 4;
    static_assert(kRows > 0);  // of four each: a thread's pixels have one place among the banks
    const int i = thread % kWidth, wanted = first_bin - kHalo + i, pixel = thread / kWidth;
    if (pixel >= kRows) return;
    const int bin = a.inside(wanted), pixels = a.store.nx * a.store.ny;
    const double scale = bin == wanted ? *a.store.scale_at(bin, fiber) : 0.0;
    HalvedDoubles from = a.store.pixels.from(a.store.at(pixel, bin, fiber));
    const long stride = kRows * a.store.step();
    double* to = s.spots.memory + s.spots.place(pixel, i);
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
    int left = (pixels - pixel + kRows - 1) / kRows;
    for (; left >= kAtOnce; left -= kAtOnce) some(kAtOnce);
    some(left);
    if (pixel > 0) return;
    s.spots.x0[i] = a.trace.x0[a.trace.at(fiber, bin)];
    s.spots.y0[i] = a.trace.y0[a.trace.at(fiber, bin)];
    if (i % lane::kSide == 0) s.spots.eights[i / lane::kSide] = Corners::of(a, fiber, wanted);
  }
  /// A thread: a bin of the core and a row of its pixels.
  template <class T>
  FL_LANE_HD static void weigh(const Shared& s, const T* image, const T* ivar, int fiber,
                               int first_bin, int thread, const Args& a) {
    constexpr int kAtOnce = 12;
    const int nx = a.store.nx;
    for (int e = thread; e < a.store.ny * kCore; e += kThreads) {
      const int i = e % kCore, r = e / kCore, mine = i + kHalo, bin = first_bin + i;
      const int x0 = s.spots.x0[mine], y0 = s.spots.y0[mine];
      const bool counts = bin < a.store.nbin && a.trace.live[a.trace.at(fiber, bin)] != 0 &&
                          a.ccd.inside(0, y0 + r);
      const int begin = x0 < 0 ? -x0 : 0;  // columns on the CCD
      const int end = !counts ? 0 : x0 + nx > a.ccd.nx ? a.ccd.nx - x0 : nx;
      unsigned at = a.ccd.index(x0, y0 + r);
      int spot[4], weighted[4];
      FL_UNROLL_ALL
      for (int k = 0; k < 4; ++k) {
        spot[k] = s.spots.place(r * nx + k, mine);
        weighted[k] = s.weighted.place(r * nx + k, i);
      }
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
          const double v = s.spots.memory[spot[k % 4] + k / 4 * 4 * kWidth];
          const double wv = static_cast<double>(weight[k]) * v;
          s.weighted.memory[weighted[k % 4] + k / 4 * 4 * kCore] = wv;
          y += wv * static_cast<double>(good ? pixel[k] : T{0});
          phi += v * (good ? 1.0 : 0.0);
        }
        FL_UNROLL_ALL
        for (int k = 0; k < 4; ++k) {
          spot[k] += kAtOnce * kWidth;
          weighted[k] += kAtOnce * kCore;
        }
      }
      s.row_y[e] = y;
      s.row_phi[e] = phi;
      if (r > 0) continue;
      s.weighted.x0[i] = x0;
      s.weighted.y0[i] = y0;
      if (i % lane::kSide == 0)
        s.weighted.eights[i / lane::kSide] = s.spots.eights[mine / lane::kSide];
    }
  }
  FL_LANE_HD static void add_rows(const Shared& s, int fiber, int first_bin, int thread,
                                  const Args& a) {
    if (thread >= kCore || first_bin + thread >= a.store.nbin) return;
    double y = 0, phi = 0;
    for (int r = 0; r < a.store.ny; ++r) {
      y += s.row_y[r * kCore + thread];
      phi += s.row_phi[r * kCore + thread];
    }
    const long row = first_bin + thread + a.shape.margin;
    *a.n.rhs.at(fiber, row) = y;
    *a.n.phi.at(fiber, row) = phi;
  }
  /// Of the weighted spots, which are `fiber`'s, with those that are there: its own, or the next
  /// one's. A warp: eight bins with eight; the longest sums first.
  FL_LANE_HD static void multiply(const Shared& s, int fiber, bool coupling, int first_bin,
                                  int thread, const Args& a) {
    const lane::SquareThread mine(thread);
    const int tasks = a.eights_met(coupling) * kEights;
    for (int task = thread / kWarp; task < tasks; task += kThreads / kWarp) {
      const int first = task % kEights * lane::kSide;
      const int met = first + Args::eight_met(task / kEights, coupling) * lane::kSide;
      const int other = met + kHalo;
      const lane::SquarePart sum = spot_products(
          mine, a.store.nx, a.store.ny, s.weighted.eights[first / lane::kSide],
          s.spots.eights[other / lane::kSide], s.weighted.from(first), s.spots.from(other));
      a.put(mine, sum, fiber, coupling ? 1 : 0, first_bin + first, first_bin + met);
    }
  }
};

}  // namespace fiberloom::exact::gpu
