// SPDX-License-Identifier: BSD-3-Clause
// The pixel kernels of the exact engine, one table for each ISA level. They run along the pixels of
// a row. Stored spots begin at their frame, a CCD column that is a multiple of kLanes (in float32,
// kFloatLanes), as the strips do: all loads are aligned.
#pragma once

#include <cstddef>

#include "fiberloom/foundation.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::exact {

/// Shape of stored spots: ny rows of `stride` columns, a multiple of kLanes (float32: kFloatLanes).
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

/// Some neighbouring bins' spots: what they cover on the CCD, and where they lie.
struct Patch {
  int row = 0, end = 0;       ///< the rows that any of them touches
  int frame = 0;              ///< of the first
  bool same_columns = false;  ///< all have that frame
  long origin = 0;            ///< (row r, column x) of the first spot: origin + r stride + x
};

/// Spots of patches, slot_size apart within one, and the pixels under them.
struct PatchPixels {
  const double* spots;
  int stride;
  long slot_size;
  StripView strip;

  struct Shared {
    Overlap pixels;
    long in_slot, in_strip;  ///< the first pixel, from a patch's origin and in the strip
  };
  /// Pixels that both patches cover; false when there are none.
  bool share(const Patch& a, const Patch& b, Shared& s) const {
    const int row = a.row > b.row ? a.row : b.row, end = a.end < b.end ? a.end : b.end;
    const int x = a.frame > b.frame ? a.frame : b.frame;
    const int last = a.frame < b.frame ? a.frame : b.frame;
    s.pixels = {end - row, last + stride - x, stride, strip.pitch};
    s.in_slot = static_cast<long>(row) * stride + x;
    s.in_strip = strip.at(x, row);
    return s.pixels.rows > 0 && s.pixels.columns > 0;
  }
  [[nodiscard]] const double* at(const Patch& p, const Shared& s) const {
    return spots + p.origin + s.in_slot;
  }
};

struct PixelKernels {
  /// The sums y = (A^T W p), phi = (A^T [w > 0]) of one spot, frame x, row y of the CCD.
  void (*weigh)(const StampShape& shape, const double* spot, const StripView& strip, int x, int y,
                double* y_sum, double* phi_sum);
  /// a^T W b over the pixels that two spots share; all three point to the first of them.
  double (*dot)(const Overlap& overlap, const double* a, const double* weight, const double* b);
  /// The same for the kTileA spots of a patch and the kTileB of each of n others:
  /// out[(g kTileA + i) kTileB + k] = a_i^T W b_gk. Leaves out patches whose columns are not the
  /// same.
  void (*tiles)(const PatchPixels& p, const Patch& a, const Patch* b, int n, double* out);
  /// The same for one b, with the sums of weigh() of the spots a, which b must cover whole: y_i at
  /// out[kTileA kTileB + i], phi_i kTileA further; room for kLanes more than a tile.
  void (*tile_and_sums)(const PatchPixels& p, const Patch& a, const Patch& b, double* out);
  /// model += flux * spot, at (row, column).
  void (*add_model)(const StampShape& shape, const float* spot, float flux, float* model,
                    long pitch, int row, int column);
  /// out[i] = in[i] for n elements (any number; neither need be aligned).
  void (*widen)(const float* in, long n, double* out);
  /// Sum of spot * image over the stamp at (row, column).
  float (*gather)(const StampShape& shape, const float* spot, const float* image, long pitch,
                  int row, int column);
  /// model[i] becomes chi2 = w (p - m)^2 / (1 + w (psferr m)^2), at most 1e30, for n pixels (n a
  /// multiple of kLanes).
  void (*chi2)(const double* weight, const double* pixel, double psferr, long n, float* model);
  /// Adds to sums[0] the chi2 (without psferr) of n pixels (a multiple of kLanes) that have weight
  /// and a model other than 0, to sums[1] their number, to sums[2] the number of those whose model
  /// is above kBrightPixel sigma.
  void (*fit)(const double* weight, const double* pixel, const float* model, long n, double* sums);
  /// y[i] = sum over terms t of a[t][i] x[t][i], n a multiple of kLanes.
  void (*sum_products)(const double* const* a, const double* const* x, int terms, double* y,
                       long n);
  /// out[i stride + lane] = in[lane][i] for kLanes inputs of n elements, and back (stride kLanes).
  void (*interleave)(const double* const* in, long n, double* out, long stride);
  void (*deinterleave)(const double* in, long n, double* const* out);
};

[[nodiscard]] const PixelKernels& pixel_kernels(Isa isa);

}  // namespace fiberloom::exact
