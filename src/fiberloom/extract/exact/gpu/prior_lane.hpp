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

/// What the digits so far tell of a bundle's median: bits of the upper and the lower middle
/// element, their ranks among those that begin so, and how many elements there are in all.
struct MedianState {
  unsigned long long bits[2];
  unsigned rank[2], total;
};

struct MedianArgs {
  Shape shape;
  NormalView n;
  double* median;      ///< [nbundle]
  int chunks;          ///< of a bundle's bins
  MedianState* state;  ///< [2][nbundle]: of every other digit
  unsigned* count;     ///< [2][nbundle x chunks][kCounters]: the same
  int digit;           ///< to be counted; kDigits: all are, the median is next
};

/// Exact median of the diagonal of N over a bundle's bins with phi > 0.5, digit by digit of its
/// bits (positive doubles sort as integers): one of 4 bits, then ten of 6. A launch for each digit
/// chooses the one before and counts. Blocks: nbundle x chunks.
struct MedianKernel {
  using Args = MedianArgs;
  static constexpr int kThreads = 256, kDigits = 11, kBits = 6, kValues = 1 << kBits;
  static constexpr int kCounters = 2 * kValues, kWords = kThreads / 4;
  struct Shared {
    MedianState state;
    unsigned sum[kCounters];             ///< of the digit before
    unsigned count[kCounters * kWords];  ///< of a thread's share of this one: bytes
  };
  static_assert(sizeof(Shared) <= 48 << 10);
  static std::size_t shared_bytes(const Args&) { return sizeof(Shared); }
  /// Of bundles with so many bins: enough for the card, and a byte counts a thread's share.
  static int chunks(long bins) {
    return static_cast<int>(bins / (255L * kThreads) < 16 ? 16 : bins / (255L * kThreads) + 1);
  }
  FL_LANE_HD static int phases(const Args&) { return 4; }
  FL_LANE_HD static int shift(int digit) { return kBits * (kDigits - 1 - digit); }

  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    Shared& s = *reinterpret_cast<Shared*>(shared);
    const int bundle = static_cast<int>(block / a.chunks),
              chunk = static_cast<int>(block % a.chunks);
    switch (phase) {
      case 0:
        for (int i = thread; i < kCounters * kWords; i += kThreads) s.count[i] = 0;
        if (a.digit > 0 && thread < kCounters) s.sum[thread] = counted(bundle, thread, a);
        break;
      case 1:
        if (thread < 2) choose(thread, bundle, a, s);
        break;
      case 2:
        if (thread == 0 && chunk == 0) keep(bundle, a, s.state);
        if (a.digit < kDigits) count(bundle, chunk, thread, a, s);
        break;
      default:
        if (a.digit < kDigits && thread < kCounters) {
          unsigned sum = 0;
          for (int w = 0; w < kWords; ++w) {  // each counter from another word on: no bank twice
            const unsigned four = s.count[thread * kWords + (w + thread) % kWords];
            const unsigned pairs = (four & 0xff00ffU) + ((four >> 8) & 0xff00ffU);
            sum += (pairs & 0xffffU) + (pairs >> 16);
          }
          a.count[counts(a.digit, bundle, chunk, a) + thread] = sum;
        }
    }
  }

 private:
  FL_LANE_HD static long counts(int digit, int bundle, int chunk, const Args& a) {
    return ((digit % 2 * static_cast<long>(a.shape.nbundle) + bundle) * a.chunks + chunk) *
           kCounters;
  }
  FL_LANE_HD static unsigned counted(int bundle, int counter, const Args& a) {
    unsigned sum = 0;
    for (int c = 0; c < a.chunks; ++c) sum += a.count[counts(a.digit - 1, bundle, c, a) + counter];
    return sum;
  }
  /// Each thread counts the digits of its own elements.
  FL_LANE_HD static void count(int bundle, int chunk, int thread, const Args& a, Shared& s) {
    auto* own = reinterpret_cast<unsigned char*>(s.count) + thread;
    const int first = a.shape.bundle_first[bundle], at = shift(a.digit);
    const int fibers = a.shape.bundle_first[bundle + 1] - first, n = fibers * a.shape.nbin;
    constexpr int kAtOnce = 4;  // loads under way
    const int stride = kThreads * a.chunks;
    for (int e = chunk * kThreads + thread; e < n; e += kAtOnce * stride) {
      double value[kAtOnce], phi[kAtOnce];
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        const int k = e + i * stride, f = first + k % fibers, row = k / fibers + a.shape.margin;
        phi[i] = k < n ? *a.n.phi.at(f, row) : 0.0;
        value[i] = k < n ? *a.n.own.at(f, row) : 0.0;
      }
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        if (!(phi[i] > kInMedianAbove) || value[i] < 0) continue;
        const unsigned long long bits = double_bits(value[i]);
        for (int which = 0; which < 2; ++which) {
          if (a.digit > 0 && (bits ^ s.state.bits[which]) >> (at + kBits) != 0) continue;
          ++own[(which * kValues + static_cast<int>(bits >> at & (kValues - 1))) * kThreads];
        }
      }
    }
  }
  /// The digit before this one, of the upper or the lower middle element.
  FL_LANE_HD static void choose(int which, int bundle, const Args& a, Shared& s) {
    unsigned long long bits = 0;
    unsigned rank = 0, total = 0;
    if (a.digit == 1) {
      for (int i = 0; i < kValues; ++i) total += s.sum[i];
      rank = which == 0 || total % 2 != 0 || total == 0 ? total / 2 : total / 2 - 1;
    } else if (a.digit > 1) {
      const MedianState& m = a.state[(a.digit - 1) % 2 * a.shape.nbundle + bundle];
      bits = m.bits[which];
      rank = m.rank[which];
      total = m.total;
    }
    if (total > 0) {
      int i = 0;
      while (i < kValues - 1 && rank >= s.sum[which * kValues + i])
        rank -= s.sum[which * kValues + i++];
      bits |= static_cast<unsigned long long>(i) << shift(a.digit - 1);
    }
    s.state.bits[which] = bits;
    s.state.rank[which] = rank;
    if (which == 0) s.state.total = total;
  }
  FL_LANE_HD static void keep(int bundle, const Args& a, const MedianState& m) {
    if (a.digit < kDigits) {
      a.state[a.digit % 2 * a.shape.nbundle + bundle] = m;
      return;
    }
    const double upper = bits_double(m.bits[0]), lower = bits_double(m.bits[1]);
    // nothing known about the bundle: any positive number will do
    a.median[bundle] = m.total == 0 ? 1.0 : m.total % 2 == 0 ? 0.5 * (upper + lower) : upper;
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
