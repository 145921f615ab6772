// SPDX-License-Identifier: BSD-3-Clause
// The pixel kernels of the exact engine, one table for each ISA level. They run along the pixels of
// a row. Stored spots begin at their frame, a CCD column that is a multiple of kLanes, as the
// strips do: all loads are aligned.
#pragma once

#include <cstddef>

#include "fiberloom/simd/isa.hpp"

namespace fiberloom::exact {

/// Shape of stored spots: ny rows of `stride` columns.
struct StampShape {
  int ny, stride;
};

/// The products of two spots and four others are taken at once.
inline constexpr int kTileA = 2, kTileB = 4;

/// Pixels of a bundle: rows x pitch, zero weight off the CCD; (0, 0) is CCD pixel (x0, y0).
struct StripView {
  const double* weight;
  const double* pixel;
  long pitch;
  int x0, y0;
  [[nodiscard]] long at(int x, int y) const { return (y - y0) * pitch + (x - x0); }
};

/// The pixels that spots share: rows `stride` apart in the spots, weight_pitch in the strip;
/// columns a multiple of kLanes.
struct Overlap {
  int rows, columns;
  int stride;
  long weight_pitch;
};

struct PixelKernels {
  /// The sums y = (A^T W p), phi = (A^T [w > 0]) of one spot, frame x, row y of the CCD.
  void (*weigh)(const StampShape& shape, const double* spot, const StripView& strip, int x, int y,
                double* y_sum, double* phi_sum);
  /// a^T W b over the pixels that two spots share; all three point to the first of them.
  double (*dot)(const Overlap& overlap, const double* a, const double* weight, const double* b);
  /// The same for kTileA spots a and kTileB spots b, spot_pitch apart, on the same pixels:
  /// out[i kTileB + k] = a_i^T W b_k.
  void (*tile)(const Overlap& overlap, const double* a, const double* weight, const double* b,
               long spot_pitch, double* out);
  /// The same, and the sums of weigh() of the spots a, which must lie in the overlap whole: y_i at
  /// out[kTileA kTileB + i], phi_i kTileA further; room for kLanes more than tile() writes. `pixel`
  /// is where `weight` is.
  void (*tile_and_sums)(const Overlap& overlap, const double* a, const double* weight,
                        const double* b, long spot_pitch, const double* pixel, double* out);
  /// model += flux * spot; keeps the spot as float32, for gather.
  void (*add_model)(const StampShape& shape, const double* spot, double flux, double* model,
                    long pitch, int row, int column, float* narrowed);
  /// out[i] = in[i] for n elements (any number; neither need be aligned).
  void (*widen)(const float* in, long n, double* out);
  /// Sum of spot * image over the stamp at (row, column).
  double (*gather)(const StampShape& shape, const float* spot, const double* image, long pitch,
                   int row, int column);
  /// chi2[i] = w (p - m)^2 / (1 + w (psferr m)^2) for n pixels (n a multiple of kLanes); may be m.
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
