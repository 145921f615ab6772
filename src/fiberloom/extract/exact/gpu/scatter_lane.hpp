// SPDX-License-Identifier: BSD-3-Clause
// What leaves of the sums over the poles: spectra, resolution, differences at the seams.
#pragma once

#include "fiberloom/extract/exact/gpu/pole_lane.hpp"

namespace fiberloom::exact::gpu {

/// What the sums of a batch become.
struct TakeArgs {
  PoleArgs pole;
  Packs roots;              ///< by fibre of the frame and bin: Q(j, j + d), Q 1, Q x
  const int* fiber;         ///< [count] of the frame
  const int* origin;        ///< [count] bin of the frame where a position's axis begins
  const int *first, *last;  ///< [count] bins of the frame that the batch has the answer of
  double* seam;             ///< [count]
};

struct SumReader {
  const TakeArgs& a;
  int position;
  [[nodiscard]] FL_LANE_HD int window_of(int bin) const {
    const Cut& cut = a.pole.root.cut;
    return exact::window_of(bin, cut.stride, cut.count);
  }
  [[nodiscard]] FL_LANE_HD double in(int bin, int window, int item) const {
    const Cut& cut = a.pole.root.cut;
    const int row = bin - cut.first(window) - a.pole.out_first;
    return *a.pole.sums.at(root_lane(position, window, cut), row, item);
  }
  [[nodiscard]] FL_LANE_HD double at(int bin, int item) const {
    return in(bin, window_of(bin), item);
  }
};

/// Roots by bin, from the windows that own them. Threads: bins x padded count.
struct RootTakeKernel {
  using Args = TakeArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const RootArgs& r = a.pole.root;
    const long pitch = padded(r.count);
    const int bin = static_cast<int>(thread / pitch), i = static_cast<int>(thread % pitch);
    if (bin >= r.shape.nbin || i >= r.count || a.pole.poles[i] == 0) return;
    const int of_frame = bin + a.origin[i];
    if (of_frame < a.first[i] || of_frame >= a.last[i]) return;
    const SumReader read{a, i};
    FL_UNROLL
    for (int item = 0; item < a.pole.nd + 3; ++item) {
      *a.roots.at(a.fiber[i], of_frame, item) = read.at(bin, item);
    }
  }
};

/// As seam_difference(), and at the bins just outside those that are taken: by how much they differ
/// from what is there. Threads: padded count.
struct SeamKernel {
  using Args = TakeArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const RootArgs& r = a.pole.root;
    const int i = static_cast<int>(thread);
    if (i >= r.count || a.pole.poles[i] == 0) return;
    const SumReader read{a, i};
    const int one = a.pole.nd + 1, x = a.pole.nd + 2;
    double worst = 0;
    for (int w = 1; w < r.cut.count; ++w) {
      for (int j = w * r.cut.stride - 1; j <= w * r.cut.stride; ++j) {
        if (j < 0 || j >= r.shape.nbin) continue;
        worst = largest(worst, seam_of(read.in(j, w - 1, x), read.in(j, w - 1, one),
                                       read.in(j, w, x), read.in(j, w, one)));
      }
    }
    for (int side = 0; side < 2; ++side) {
      const int j = side == 0 ? a.first[i] - 1 : a.last[i];
      if (j < 0 || j >= a.roots.rows) continue;
      const int bin = j - a.origin[i], f = a.fiber[i];
      if (bin < a.pole.out_first || bin >= r.shape.nbin) continue;
      worst = largest(worst, seam_of(*a.roots.at(f, j, x), *a.roots.at(f, j, one), read.at(bin, x),
                                     read.at(bin, one)));
    }
    a.seam[i] = worst;
  }
};

struct ScatterArgs {
  int count, margin, nd;
  Packs roots, x, phi;  ///< by fibre of the frame and bin; the last two with margins
  const int* done;      ///< [count] has a fibre a root?
  ResultView result;
  /// Of bin j of the result. Nothing is drowned: who has a shift is left to the CPU.
  [[nodiscard]] FL_LANE_HD BinResult result_of(int fiber, int j) const {
    const int bin = j + result.guard;
    const long row = bin + margin;
    return bin_result(*phi.at(fiber, row), *roots.at(fiber, bin, nd + 1),
                      *roots.at(fiber, bin, nd + 2), *x.at(fiber, row), result.width[j], false);
  }
};

/// Flux, ivar and resolution of the requested fibres. Blocks: packs of fibres x groups of bins.
/// Neighbouring threads read neighbouring fibres and write neighbouring bins: a few diagonals at
/// a time go through the block's memory.
struct ScatterKernel {
  using Args = ScatterArgs;
  static constexpr int kThreads = 256, kBins = 32, kPitch = kBins + 1, kTogether = 4;
  static std::size_t shared_bytes(const Args& a) {
    return static_cast<std::size_t>(kBins + 2 * a.nd) * kWarp * sizeof(double) +
           kTogether * kWarp * kPitch * sizeof(float);
  }
  FL_LANE_HD static int groups(const Args& a) { return (a.result.nwave + kBins - 1) / kBins; }
  FL_LANE_HD static long blocks(const Args& a) { return padded(a.count) / kWarp * groups(a); }
  FL_LANE_HD static int diagonals(const Args& a) { return 2 * a.nd + 1; }
  FL_LANE_HD static int phases(const Args& a) {
    return 1 + 2 * ((diagonals(a) + kTogether - 1) / kTogether);
  }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    const int first_fiber = static_cast<int>(block / groups(a)) * kWarp;
    const int first_bin = static_cast<int>(block % groups(a)) * kBins;
    const int rows = kBins + 2 * a.nd;
    auto* tile = reinterpret_cast<float*>(shared + rows * kWarp);
    if (phase == 0) {
      for (int e = thread; e < rows * kWarp; e += kThreads) {
        const int bin = first_bin - a.nd + e / kWarp;
        const bool mine = bin >= first_bin && bin < first_bin + kBins;
        shared[e] = take_bin(first_fiber + e % kWarp, bin, mine, a);
      }
      return;
    }
    const int first = (phase - 1) / 2 * kTogether, left = diagonals(a) - first;
    const int together = left < kTogether ? left : kTogether;
    if (phase % 2 != 0) {
      take_entries(first_fiber, first_bin, first, together, thread, a, shared, tile);
      return;
    }
    const int bin = first_bin + thread % kBins;
    for (int lane = thread / kBins; lane < kWarp && bin < a.result.nwave;
         lane += kThreads / kBins) {
      const int spec = spec_of(first_fiber + lane, a);
      if (spec < 0) continue;
      const long row = static_cast<long>(spec) * diagonals(a) + first;
      float* to = a.result.resolution + row * a.result.nwave + bin;
      for (int k = 0; k < together; ++k) {
        to[static_cast<long>(k) * a.result.nwave] =
            tile[(k * kWarp + lane) * kPitch + thread % kBins];
      }
    }
  }

 private:
  /// Negative where a fibre has no spectrum to be given.
  FL_LANE_HD static int spec_of(int fiber, const Args& a) {
    if (fiber >= a.count || a.done[fiber] == 0) return -1;
    const int spec = a.result.psf_fiber[fiber] - a.result.spec_min;
    return spec < a.result.nspec ? spec : -1;
  }
  /// Writes what leaves of a bin, if it is the block's, and returns what scales its row of R.
  FL_LANE_HD static double take_bin(int fiber, int bin, bool mine, const Args& a) {
    const ResultView& out = a.result;
    const int spec = spec_of(fiber, a);
    if (spec < 0 || bin < 0 || bin >= out.nwave) return 0.0;
    const BinResult found = a.result_of(fiber, bin);
    if (mine) {
      const long at = static_cast<long>(spec) * out.nwave + bin;
      out.flux[at] = found.flux;
      out.ivar[at] = found.ivar;
      out.xflux[at] = found.xflux;
    }
    return found.inverse_sum;
  }
  /// Diagonals [first, first + together) of the block's bins, one fibre a thread; all that a bin
  /// reads is asked for before any is used.
  FL_LANE_HD static void take_entries(int first_fiber, int first_bin, int first, int together,
                                      int thread, const Args& a, const double* scales,
                                      float* tile) {
    const int lane = thread % kWarp, fiber = first_fiber + lane;
    const bool live = spec_of(fiber, a) >= 0;
    for (int i = thread / kWarp; i < kBins; i += kThreads / kWarp) {
      double value[kTogether];
      FL_UNROLL_ALL
      for (int k = 0; k < kTogether; ++k) {
        value[k] = live && k < together ? root_entry(fiber, first_bin + i, first + k, a) : 0.0;
      }
      FL_UNROLL_ALL
      for (int k = 0; k < kTogether; ++k) {
        if (k >= together) continue;
        const int row = first_bin + i - a.nd + first + k;
        const double scale = scales[(i + first + k) * kWarp + lane];
        const bool one = live && scale == 0.0 && row == first_bin + i;
        tile[(k * kWarp + lane) * kPitch + i] = one ? 1.0F
                                                : scale == 0.0
                                                    ? 0.0F
                                                    : static_cast<float>(value[k] * scale);
      }
    }
  }
  /// Entry k of column `bin` of the root; the other diagonal's, which is the same.
  FL_LANE_HD static double root_entry(int fiber, int bin, int k, const Args& a) {
    const int row = bin - a.nd + k, gap = row < bin ? bin - row : row - bin;
    if (row < 0 || row >= a.result.nwave || bin >= a.result.nwave) return 0.0;
    return *a.roots.at(fiber, (row < bin ? row : bin) + a.result.guard, gap);
  }
};

}  // namespace fiberloom::exact::gpu
