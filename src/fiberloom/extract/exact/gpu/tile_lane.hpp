// SPDX-License-Identifier: BSD-3-Clause
// Normal equations in tiles, whose spots a block keeps in its memory.
#pragma once

#include "fiberloom/extract/exact/gpu/assemble_lane.hpp"

namespace fiberloom::exact::gpu {

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
