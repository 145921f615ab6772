// SPDX-License-Identifier: BSD-3-Clause
// The median of the diagonal of N, and the prior that it scales.
#pragma once

#include "fiberloom/extract/exact/gpu/layout.hpp"

namespace fiberloom::exact::gpu {

FL_LANE_HD inline unsigned long long double_bits(double v) {
  unsigned long long bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
FL_LANE_HD inline double bits_double(unsigned long long bits) {
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

struct MedianArgs {
  Shape shape;
  NormalView n;
  double* median;  ///< [nbundle]
};

/// Exact median of the diagonal of N over a bundle's bins with phi > 0.5, digit by digit of its
/// bits (positive doubles sort as integers): 16 digits of 4 bits. Blocks: nbundle.
struct MedianKernel {
  using Args = MedianArgs;
  static constexpr int kThreads = 512, kDigits = 16, kCounters = 32, kParts = 32, kSteps = 4;
  struct Shared {
    unsigned long long bits[2];  ///< of the upper and the lower middle element
    unsigned rank[2], total;
    unsigned sum[kCounters];
    unsigned partial[kCounters * kParts];
    unsigned short
        count[kCounters * kThreads];  ///< of a thread's share: 33 million elements in all
  };
  static_assert(sizeof(Shared) <= 64 << 10, "what a block has on the cards that have least");
  static std::size_t shared_bytes(const Args&) { return sizeof(Shared); }
  FL_LANE_HD static int phases(const Args&) { return kDigits * kSteps; }

  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    Shared& s = *reinterpret_cast<Shared*>(shared);
    const int digit = phase / kSteps, shift = 60 - 4 * digit;
    switch (phase % kSteps) {
      case 0:
        count(static_cast<int>(block), thread, shift, a, s);
        break;
      case 1:
        for (int i = thread; i < kCounters * kParts; i += kThreads) {
          unsigned sum = 0;
          for (int t = i % kParts; t < kThreads; t += kParts)
            sum += s.count[i / kParts * kThreads + t];
          s.partial[i] = sum;
        }
        break;
      case 2:
        if (thread < kCounters) {
          unsigned sum = 0;
          for (int p = 0; p < kParts; ++p) sum += s.partial[thread * kParts + p];
          s.sum[thread] = sum;
        }
        break;
      default:
        if (thread == 0) choose(digit, shift, s, a.median + block);
    }
  }

 private:
  /// Each thread counts the digits of its own elements.
  FL_LANE_HD static void count(int bundle, int thread, int shift, const Args& a, Shared& s) {
    unsigned short* own = s.count + thread;
    for (int i = 0; i < kCounters; ++i) own[i * kThreads] = 0;
    const int first = a.shape.bundle_first[bundle];
    const int fibers = a.shape.bundle_first[bundle + 1] - first, n = fibers * a.shape.nbin;
    constexpr int kAtOnce = 4;  // loads under way
    for (int e = thread; e < n; e += kAtOnce * kThreads) {
      double value[kAtOnce];
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = e + i * kThreads;
        const int f = first + at % fibers, row = at / fibers + a.shape.margin;
        const bool good = at<n&& * a.n.phi.at(f, row)> kInMedianAbove;
        value[i] = at < n ? *a.n.own.at(f, row) : 0.0;
        if (!good) value[i] = -1.0;
      }
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        if (value[i] < 0) continue;
        const unsigned long long bits = double_bits(value[i]);
        for (int which = 0; which < 2; ++which) {
          if (shift == 60 || (bits >> (shift + 4)) == (s.bits[which] >> (shift + 4)))
            ++own[static_cast<long>(which * 16 + ((bits >> shift) & 15)) * kThreads];
        }
      }
    }
  }
  FL_LANE_HD static void choose(int digit, int shift, Shared& s, double* median) {
    if (digit == 0) {
      s.total = 0;
      for (int i = 0; i < 16; ++i) s.total += s.sum[i];
      s.rank[0] = s.total / 2;
      s.rank[1] = s.total % 2 == 0 ? s.total / 2 - 1 : s.total / 2;
      s.bits[0] = s.bits[1] = 0;
      if (s.total == 0)
        *median = 1.0;  // nothing known about the bundle: any positive number will do
    }
    if (s.total == 0) return;
    for (int which = 0; which < 2; ++which) {
      int i = 0;
      while (i < 15 && s.rank[which] >= s.sum[which * 16 + i])
        s.rank[which] -= s.sum[which * 16 + i++];
      s.bits[which] |= static_cast<unsigned long long>(i) << shift;
    }
    if (shift > 0) return;
    const double upper = bits_double(s.bits[0]), lower = bits_double(s.bits[1]);
    *median = s.total % 2 == 0 ? 0.5 * (upper + lower) : upper;
  }
};

struct PriorArgs {
  Shape shape;
  NormalView n;
  const double* median;  ///< [nbundle]
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
    const double median = a.median[a.shape.bundle_of[fiber]];
    double& diagonal = *a.n.own.at(fiber, row);
    const bool inside = row >= a.shape.margin && row < a.shape.margin + a.shape.nbin;
    const double phi = *a.n.phi.at(fiber, row);
    diagonal = inside ? with_prior(diagonal, phi, median, a.ridge, a.weak_prior) : median;
  }
};

}  // namespace fiberloom::exact::gpu
