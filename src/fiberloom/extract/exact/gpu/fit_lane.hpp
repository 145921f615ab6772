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
  int chunks;                       ///< of kWarp rows
  unsigned* part_counts;            ///< [bundles x chunks][kFitBins]
  double* part_sums;                ///< [bundles x chunks][kFitSums]
  unsigned* counts;                 ///< [nbundle of the frame][kFitBins]
  double* sums;                     ///< [nbundle of the frame][kFitSums]
};

/// Blocks: bundles x chunks. A thread has a row, and every 32nd bin of a share of the bins.
struct FitKernel {
  using Args = FitArgs;
  static constexpr int kThreads = kWarp;
  struct Shared {
    double sums[kFitSums * kThreads];
    unsigned short count[kFitBins * kThreads];  ///< of a row's pixels
  };
  static std::size_t shared_bytes(const Args&) { return sizeof(Shared); }
  FL_LANE_HD static int phases(const Args&) { return 2; }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    Shared& s = *reinterpret_cast<Shared*>(shared);
    if (phase == 0) {
      count(static_cast<int>(block / a.chunks), static_cast<int>(block % a.chunks), thread, a, s);
      return;
    }
    for (int i = thread; i < kFitBins; i += kThreads) {
      unsigned sum = 0;
      for (int t = 0; t < kThreads; ++t) sum += s.count[i * kThreads + t];
      a.part_counts[block * kFitBins + i] = sum;
    }
    if (thread >= kFitSums) return;
    double sum = 0;
    for (int t = 0; t < kThreads; ++t) sum += s.sums[thread * kThreads + t];
    a.part_sums[block * kFitSums + thread] = sum;
  }

 private:
  FL_LANE_HD static void count(int b, int chunk, int thread, const Args& a, Shared& s) {
    for (int i = 0; i < kFitBins; ++i) s.count[i * kThreads + thread] = 0;
    double sums[kFitSums] = {};
    const int bundle = a.d.bundle_first + b, r = chunk * kThreads + thread;
    const int y = a.d.row_first + r, first = a.first_row[bundle], last = a.last_row[bundle];
    for (int c = 0; r < a.d.rows && y >= first && y < last && c < a.d.strip_pitch; ++c) {
      const int x = a.d.strip_x[bundle] + c;
      const double w = a.d.ccd.weight(x, y);
      // as the CPU sees it: in float32
      const double m = static_cast<double>(static_cast<float>(model_at(a.d, b, r, c)));
      if (!(w > 0) || !(m * m > 0)) continue;
      const double d = a.d.ccd.pixel(x, y) - m;
      sums[0] += w * d * d;
      sums[1] += 1;
      if (!is_bright(w, m)) continue;
      sums[2] += 1;
      sums[3] += bright_noise2(w, m);
      ++s.count[fit_bin(d / m) * kThreads + thread];
    }
    const int begin = a.d.shape.bundle_first[bundle];
    const int fibers = a.d.shape.bundle_first[bundle + 1] - begin;
    const int bins = (a.d.shape.nbin + a.chunks - 1) / a.chunks;
    for (int e = thread; e < fibers * bins; e += kThreads) {
      const int fiber = begin + e % fibers, j = chunk * bins + e / fibers;
      if (j >= a.d.shape.nbin) continue;
      const int middle = a.d.trace.y0[a.d.trace.at(fiber, j)] + a.d.store.ny / 2;
      const bool inside = middle >= first && middle < last;
      sums[4] += inside && *a.d.n.phi.at(fiber, j + a.d.shape.margin) > 0 ? 1 : 0;
    }
    for (int i = 0; i < kFitSums; ++i) s.sums[i * kThreads + thread] = sums[i];
  }
};

/// Sums over the chunks. Threads: bundles x (kFitBins + kFitSums).
struct FitSumKernel {
  using Args = FitArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long b = thread / (kFitBins + kFitSums), i = thread % (kFitBins + kFitSums);
    if (b >= a.d.bundles) return;
    unsigned count = 0;
    double sum = 0;
    for (long part = b * a.chunks; part < (b + 1) * a.chunks; ++part) {
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
