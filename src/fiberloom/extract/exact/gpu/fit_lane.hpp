// SPDX-License-Identifier: BSD-3-Clause
// How well the model fits the pixels of each bundle: what FitTally counts, over chunks of rows.
#pragma once

#include "fiberloom/extract/exact/gpu/diagnose_lane.hpp"

namespace fiberloom::exact::gpu {

/// chi2, pixels and bright pixels as in FitTally; noise squared of the bright ones; parameters.
inline constexpr int kFitSums = 5;

struct FitArgs {
  DiagnoseArgs d;
  const int *first_row, *last_row;  ///< [nbundle of the frame] CCD rows that count
  int parts;                        ///< of a bundle: chunks of kWarp rows x slabs of columns
  int slabs;
  unsigned* part_counts;  ///< [bundles x parts][kFitBins]
  double* part_sums;      ///< [bundles x parts][kFitSums]
  unsigned* counts;       ///< [nbundle of the frame][kFitBins]
  double* sums;           ///< [nbundle of the frame][kFitSums]
};

/// Blocks: bundles x parts. A thread has a row and every so many columns of a slab, and a share of
/// the bins.
struct FitKernel {
  using Args = FitArgs;
  static constexpr int kShares = 3, kThreads = kShares * kWarp;
  static constexpr int kSlab = 255 * kShares;  ///< columns: a byte counts those of a thread
  struct Shared {
    double sums[kFitSums * kThreads];
    unsigned count[kFitBins * kThreads / 4];  ///< of a thread's pixels: bytes
  };
  static_assert(sizeof(Shared) <= 48 << 10);
  static std::size_t shared_bytes(const Args&) { return sizeof(Shared); }
  FL_LANE_HD static int phases(const Args&) { return 3; }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    Shared& s = *reinterpret_cast<Shared*>(shared);
    if (phase == 0) {
      for (int i = thread; i < kFitBins * kThreads / 4; i += kThreads) s.count[i] = 0;
    } else if (phase == 1) {
      count(static_cast<int>(block / a.parts), static_cast<int>(block % a.parts), thread, a, s);
    } else {
      add(block, thread, a, s);
    }
  }

 private:
  FL_LANE_HD static void add(long block, int thread, const Args& a, const Shared& s) {
    for (int i = thread; i < kFitBins; i += kThreads) {
      unsigned pairs = 0;  // two sums of 16 bits, of every other byte
      for (int word = 0; word < kThreads / 4; ++word) {
        const unsigned four = s.count[i * (kThreads / 4) + word];
        pairs += (four & 0xff00ffU) + ((four >> 8) & 0xff00ffU);
      }
      a.part_counts[block * kFitBins + i] = (pairs & 0xffffU) + (pairs >> 16);
    }
    if (thread >= kFitSums) return;
    double sum = 0;
    for (int t = 0; t < kThreads; ++t) sum += s.sums[thread * kThreads + t];
    a.part_sums[block * kFitSums + thread] = sum;
  }
  template <class T>
  FL_LANE_HD static void count_pixels(const T* image, const T* ivar, int b, int part, int thread,
                                      const Args& a, Shared& s, double* sums) {
    constexpr int kAtOnce = 4;
    auto* own = reinterpret_cast<unsigned char*>(s.count) + thread;
    const int bundle = a.d.bundle_first + b, r = part / a.slabs * kWarp + thread % kWarp;
    const int y = a.d.row_first + r, first = a.first_row[bundle], last = a.last_row[bundle];
    const int slab = part % a.slabs * kSlab, share = thread / kWarp;
    const int most = slab + kSlab < a.d.strip_pitch ? slab + kSlab : a.d.strip_pitch;
    const int columns = r < a.d.rows && y >= first && y < last ? most : 0;
    for (int c = slab + share; c < columns; c += kAtOnce * kShares) {
      T weight[kAtOnce], pixel[kAtOnce];
      float model[kAtOnce];
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = c + i * kShares, x = a.d.strip_x[bundle] + at;
        const bool there = at < columns && a.d.ccd.inside(x, y);
        weight[i] = there ? ivar[a.d.ccd.index(x, y)] : T{0};
        pixel[i] = there ? image[a.d.ccd.index(x, y)] : T{0};
        const long column = static_cast<long>(b) * a.d.strip_pitch + at;
        model[i] = there ? a.d.model_columns[column * a.d.row_pitch + r] : 0.0F;
      }
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        const double w = static_cast<double>(weight[i]);
        const double m = static_cast<double>(model[i]);  // as the CPU sees it: in float32
        if (!(w > 0) || !(m * m > 0)) continue;
        const double d = static_cast<double>(pixel[i]) - m;
        sums[0] += w * d * d;
        sums[1] += 1;
        if (!is_bright(w, m)) continue;
        sums[2] += 1;
        sums[3] += bright_noise2(w, m);
        ++own[fit_bin(d / m) * kThreads];
      }
    }
  }
  FL_LANE_HD static void count(int b, int part, int thread, const Args& a, Shared& s) {
    double sums[kFitSums] = {};
    a.d.ccd.with_pixels([&](const auto* image, const auto* ivar) {
      count_pixels(image, ivar, b, part, thread, a, s, sums);
    });
    const int bundle = a.d.bundle_first + b;
    const int first = a.first_row[bundle], last = a.last_row[bundle];
    const int begin = a.d.shape.bundle_first[bundle];
    const int fibers = a.d.shape.bundle_first[bundle + 1] - begin;
    const int bins = (a.d.shape.nbin + a.parts - 1) / a.parts;
    for (int e = thread; e < fibers * bins; e += kThreads) {
      const int fiber = begin + e % fibers, j = part * bins + e / fibers;
      if (j >= a.d.shape.nbin) continue;
      const int middle = a.d.trace.y0[a.d.trace.at(fiber, j)] + a.d.store.ny / 2;
      const bool inside = middle >= first && middle < last;
      sums[4] += inside && *a.d.n.phi.at(fiber, j + a.d.shape.margin) > 0 ? 1 : 0;
    }
    for (int i = 0; i < kFitSums; ++i) s.sums[i * kThreads + thread] = sums[i];
  }
};

/// Sums over the parts. Threads: bundles x (kFitBins + kFitSums).
struct FitSumKernel {
  using Args = FitArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long b = thread / (kFitBins + kFitSums), i = thread % (kFitBins + kFitSums);
    if (b >= a.d.bundles) return;
    unsigned count = 0;
    double sum = 0;
    for (long part = b * a.parts; part < (b + 1) * a.parts; ++part) {
      if (i < kFitBins) {
        count += a.part_counts[part * kFitBins + i];
      } else {
        sum += a.part_sums[part * kFitSums + i - kFitBins];
      }
    }
    const long bundle = a.d.bundle_first + b;
    if (i < kFitBins) {
      a.counts[bundle * kFitBins + i] = count;
    } else {
      a.sums[bundle * kFitSums + i - kFitBins] = sum;
    }
  }
};

}  // namespace fiberloom::exact::gpu
