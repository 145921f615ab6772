// SPDX-License-Identifier: BSD-3-Clause
// Pixels, and spots on them, as the device's pixel kernels see them. Neighbouring threads are
// neighbouring wavelengths, which are neighbouring rows of the CCD: images lie column by column, so
// that such threads read neighbouring addresses.
#pragma once

#include <cstdint>
#include <cstring>

#include "fiberloom/extract/exact/gpu/layout.hpp"

namespace fiberloom::exact::gpu {

/// Where spots lie, by [fibre][bin], bins padded. Corners were decided by the host.
struct TraceView {
  const int *x0, *y0;
  const unsigned char* live;
  long pitch;
  [[nodiscard]] FL_LANE_HD long at(int fiber, int bin) const { return fiber * pitch + bin; }
};

/// CCD pixels by [x][y]: one of the two pointers is set for each.
struct CcdView {
  const float *image_f, *ivar_f;
  const double *image_d, *ivar_d;
  int nx, ny;
  [[nodiscard]] FL_LANE_HD bool inside(int x, int y) const {
    return static_cast<unsigned>(x) < static_cast<unsigned>(nx) &&
           static_cast<unsigned>(y) < static_cast<unsigned>(ny);
  }
  /// 32 bits, which a card multiplies at once: of 65536 x 65536 pixels.
  [[nodiscard]] FL_LANE_HD unsigned index(int x, int y) const {
    return static_cast<unsigned>(x) * static_cast<unsigned>(ny) + static_cast<unsigned>(y);
  }
  [[nodiscard]] FL_LANE_HD double weight(int x, int y) const {
    if (!inside(x, y)) return 0.0;
    return ivar_f != nullptr ? static_cast<double>(ivar_f[index(x, y)]) : ivar_d[index(x, y)];
  }
  [[nodiscard]] FL_LANE_HD double pixel(int x, int y) const {
    if (!inside(x, y)) return 0.0;
    return image_f != nullptr ? static_cast<double>(image_f[index(x, y)]) : image_d[index(x, y)];
  }
  /// use(image, ivar), as what they are: a number that is converted where it is asked for is waited
  /// for before the next is.
  template <class Use>
  FL_LANE_HD void with_pixels(Use use) const {
    ivar_f != nullptr ? use(image_f, ivar_f) : use(image_d, ivar_d);
  }
};

/// An image by rows becomes one by columns.
template <class T>
struct TransposeArgs {
  const T* from;  ///< [ny][nx]
  T* to;          ///< [nx][ny]
  int nx, ny;
};
/// Blocks: squares of kSide x kSide pixels.
template <class T>
struct TransposeKernel {
  using Args = TransposeArgs<T>;
  static constexpr int kThreads = 256, kSide = 32, kPitch = kSide + 1;
  static std::size_t shared_bytes(const Args&) { return sizeof(double) * kSide * kPitch; }
  static long blocks(const Args& a) {
    return static_cast<long>((a.nx + kSide - 1) / kSide) * ((a.ny + kSide - 1) / kSide);
  }
  FL_LANE_HD static int phases(const Args&) { return 2; }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    const int across = (a.nx + kSide - 1) / kSide;
    const int x0 = static_cast<int>(block % across) * kSide;
    const int y0 = static_cast<int>(block / across) * kSide;
    for (int i = thread; i < kSide * kSide; i += kThreads) {
      const int slow = i / kSide, fast = i % kSide;
      if (phase == 0) {
        if (x0 + fast < a.nx && y0 + slow < a.ny) {
          shared[slow * kPitch + fast] =
              static_cast<double>(a.from[static_cast<long>(y0 + slow) * a.nx + x0 + fast]);
        }
      } else if (x0 + slow < a.nx && y0 + fast < a.ny) {
        a.to[static_cast<long>(x0 + slow) * a.ny + y0 + fast] =
            static_cast<T>(shared[fast * kPitch + slow]);
      }
    }
  }
};

/// Doubles in two halves: who needs no more than 21 bits of one reads its upper half alone.
struct HalvedDoubles {
  std::uint32_t *high, *low;
  FL_LANE_HD void put(long at, double value) const {
    std::uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    high[at] = static_cast<std::uint32_t>(bits >> 32);
    low[at] = static_cast<std::uint32_t>(bits);
  }
  [[nodiscard]] FL_LANE_HD double at(long at) const { return joined(high[at], low[at]); }
  [[nodiscard]] FL_LANE_HD HalvedDoubles from(long at) const { return {high + at, low + at}; }
  /// The middle of what begins so: no bias, an error of 4.8e-7 of it at most.
  [[nodiscard]] FL_LANE_HD double about(long at) const { return joined(high[at], 1U << 31); }
  FL_LANE_HD static double joined(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t bits = static_cast<std::uint64_t>(high) << 32 | low;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
};

/// Stored spots of fibres [first, first + count): pixel p of (fibre, bin) is number (p count +
/// fibre - first) pitch + bin of `pixels` times its scale; zeros where a spot is not on the CCD.
struct SpotStore {
  HalvedDoubles pixels;
  double* scale;
  int first, count, nbin, nx, ny;
  long pitch;  ///< bins, padded
  [[nodiscard]] FL_LANE_HD long at(int pixel, int bin, int fiber) const {
    return (static_cast<long>(pixel) * count + fiber - first) * pitch + bin;
  }
  [[nodiscard]] FL_LANE_HD double* scale_at(int bin, int fiber) const {
    return scale + (fiber - first) * pitch + bin;
  }
  /// From one pixel to the next.
  [[nodiscard]] FL_LANE_HD long step() const { return count * pitch; }
};

/// (fibre, bin) of a thread; threads: store.count x store.pitch.
struct SpotThread {
  int fiber, bin;
  bool out;
  FL_LANE_HD static SpotThread of(long thread, const SpotStore& s) {
    const int local = static_cast<int>(thread / s.pitch), bin = static_cast<int>(thread % s.pitch);
    return {s.first + local, bin, local >= s.count || bin >= s.nbin};
  }
};

}  // namespace fiberloom::exact::gpu
