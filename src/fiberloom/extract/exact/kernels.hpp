// SPDX-License-Identifier: BSD-3-Clause
// The pixel kernels of the exact engine, one table for each ISA level. They run along the pixels of
// a row. Stored spots begin at their frame, a CCD column that is a multiple of kLanes, as the
// strips do: all loads are aligned.
#pragma once

#include <cstddef>

#include "fiberloom/simd/isa.hpp"

namespace fiberloom::exact {

/// Shape of stored spots, plain or weighted: ny rows of `stride` columns and one row of zeros
/// behind them.
struct StampShape {
  int ny, stride;
};

/// Pixels of a bundle: rows x pitch, zero weight off the CCD; (0, 0) is CCD pixel (x0, y0).
struct StripView {
  const double* weight;
  const double* pixel;
  long pitch;
  int x0, y0;
};

struct PixelKernels {
  /// weighted = w A, and the sums y = (A^T W p), phi = (A^T [w > 0]) of one spot, frame x, row y of
  /// the CCD.
  void (*weigh)(const StampShape& shape, const double* spot, const StripView& strip, int x, int y,
                double* weighted, double* y_sum, double* phi_sum);
  /// out[i] = sum over shared pixels of a (weighted) and b_i; n spots b, b_pitch apart. Frames and
  /// rows of the CCD; `out` has room for whole packs.
  void (*dots)(const StampShape& shape, const double* weighted, int ax, int ay, const double* b,
               std::size_t b_pitch, const int* bx, const int* by, int n, double* out);
  /// model += flux * spot.
  void (*add_model)(const StampShape& shape, const double* spot, double flux, double* model,
                    long pitch, int row, int column);
  /// Keeps a stored spot as float32, for gather.
  void (*narrow)(const StampShape& shape, const double* spot, float* narrowed);
  /// Sum of spot * image over the stamp at (row, column).
  double (*gather)(const StampShape& shape, const float* spot, const double* image, long pitch,
                   int row, int column);
  /// chi2[i] = w (p - m)^2 / (1 + w (psferr m)^2) for n pixels (n a multiple of kLanes).
  void (*chi2)(const double* weight, const double* pixel, const double* model, double psferr,
               long n, double* chi2);
  /// y[i] = sum over terms t of a[t][i] x[t][i], n a multiple of kLanes.
  void (*sum_products)(const double* const* a, const double* const* x, int terms, double* y,
                       long n);
  /// out[i stride + lane] = in[lane][i] for kLanes inputs of n elements, and back (stride kLanes).
  void (*interleave)(const double* const* in, long n, double* out, long stride);
  void (*deinterleave)(const double* in, long n, double* const* out);
};

[[nodiscard]] const PixelKernels& pixel_kernels(Isa isa);

}  // namespace fiberloom::exact
