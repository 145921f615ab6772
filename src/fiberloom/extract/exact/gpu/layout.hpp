// SPDX-License-Identifier: BSD-3-Clause
// How arrays lie in device memory: 32 problems (fibres, or windows of a sweep) side by side, so
// that the threads of a warp read neighbouring addresses. Seen by host code and by .cu: plain data
// only.
#pragma once

#include "fiberloom/extract/exact/recipe_lane.hpp"
#include "loom/linalg/rational_root_lane.hpp"

namespace fiberloom::exact::gpu {

inline constexpr int kWarp = 32;

FL_LANE_HD inline long padded(long n) { return (n + kWarp - 1) / kWarp * kWarp; }

/// [lanes / 32][rows][width][32]: element (row, k) of each lane.
struct Packs {
  double* data = nullptr;
  long rows = 0;
  int width = 1;
  [[nodiscard]] FL_LANE_HD double* at(long lane, long row, int k = 0) const {
    return data + (((lane / kWarp) * rows + row) * width + k) * kWarp + lane % kWarp;
  }
  /// The same memory where each lane has a piece of its own: [rows][width].
  [[nodiscard]] FL_LANE_HD double* alone(long lane) const { return data + lane * rows * width; }
  [[nodiscard]] FL_LANE_HD static long size(long lanes, long rows, int width) {
    return padded(lanes) * rows * width;
  }
};

/// The wavelength axis cut into `count` windows of `stride` bins with `skirt` bins around them.
struct Cut {
  int count = 1, stride = 0, skirt = 0, rows = 0;
  /// Bin of row 0 of a window.
  [[nodiscard]] FL_LANE_HD int first(int window) const { return window * stride - skirt; }
};

/// What all kernels of a frame must know. Fibres count from 0 over all bundles of the frame;
/// arrays by bin have `margin` rows more at both ends.
struct Shape {
  int nfiber = 0, nbundle = 0, nbin = 0, margin = 0;
  int band = 8;                       ///< stored band of N_ii: one of kBands
  int cross_band = 0, reach = 1;      ///< of the couplings of different fibres
  const int* bundle_of = nullptr;     ///< [nfiber]
  const int* bundle_first = nullptr;  ///< [nbundle + 1]
  [[nodiscard]] FL_LANE_HD long rows() const { return nbin + 2L * margin; }
  [[nodiscard]] FL_LANE_HD bool neighbours(int f, int g) const {
    return f >= 0 && g >= 0 && f < nfiber && g < nfiber && bundle_of[f] == bundle_of[g];
  }
};

/// Normal equations: own (row j, d) = N[(f,j), (f,j+d)]; cross[r-1] (row j, cross_band + a) =
/// N[(f,j), (f+r,j+a)].
struct NormalView {
  Packs own, cross[2], rhs, phi;
};

FL_LANE_HD inline double largest(double a, double b) { return a > b ? a : b; }
FL_LANE_HD inline double absolute(double a) { return a < 0 ? -a : a; }

}  // namespace fiberloom::exact::gpu
