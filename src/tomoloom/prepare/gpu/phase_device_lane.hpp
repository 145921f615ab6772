// SPDX-License-Identifier: BSD-3-Clause
// Phase retrieval on a device: 32 projections are the lanes of an element, two of them real and
// imaginary part of one problem. Seen by host code and by .cu: plain data only.
#pragma once

#include "loom/base/scalar_lane.hpp"
#include "loom/fft/gpu/pass_device_lane.hpp"
#include "tomoloom/prepare/phase_lane.hpp"

namespace tomoloom::gpu {

using loom::gpu::kFftElement;

/// An axis whose ends go on beyond them: position k of `padded` stands for one of `size`.
struct PaddedAxis {
  long size = 0, before = 0, padded = 0;
  [[nodiscard]] FL_LANE_HD long inside(long k) const {
    const long at = k - before;
    return at < 0 ? 0 : (at < size ? at : size - 1);
  }
};

/// Rows of projections -> padded lines; projections that are not there are 0. Threads: rows x
/// padded x kFftElement.
struct GatherRowsArgs {
  PaddedAxis along;
  long images = 0, image_size = 0;
  const float* from = nullptr;  ///< the first of these rows, in the first projection
  float* lines = nullptr;
};
struct GatherRowsKernel {
  using Args = GatherRowsArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long image = thread % kFftElement, k = thread / kFftElement % a.along.padded;
    const long row = thread / kFftElement / a.along.padded;
    a.lines[thread] = image < a.images
                          ? a.from[image * a.image_size + row * a.along.size + a.along.inside(k)]
                          : 0.0F;
  }
};

/// Columns of the spectrum [row][frequency] -> padded lines. Threads: columns x padded x
/// kFftElement.
struct GatherColumnsArgs {
  PaddedAxis across;
  long frequencies = 0;
  const float* from = nullptr;  ///< the first of these columns, in the first row
  float* lines = nullptr;
};
struct GatherColumnsKernel {
  using Args = GatherColumnsArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lane = thread % kFftElement, k = thread / kFftElement % a.across.padded;
    const long column = thread / kFftElement / a.across.padded;
    a.lines[thread] = a.from[(a.across.inside(k) * a.frequencies + column) * kFftElement + lane];
  }
};

/// Transforms of columns under the filter. Threads: columns x padded x kFftElement.
struct FilterArgs {
  long padded = 0;
  const float* row_plus = nullptr;  ///< of the first of these columns
  const float* row_minus = nullptr;
  const float* column_plus = nullptr;
  const float* column_minus = nullptr;
  float scale = 0;
  float* lines = nullptr;
};
struct FilterKernel {
  using Args = FilterArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long k = thread / kFftElement % a.padded, column = thread / kFftElement / a.padded;
    a.lines[thread] *= lane::phase_weight(a.row_plus[column], a.row_minus[column], a.column_plus[k],
                                          a.column_minus[k], a.scale);
  }
};

/// What is inside of padded columns -> the spectrum. Threads: columns x size x kFftElement,
/// neighbouring columns side by side.
struct PutColumnsArgs {
  PaddedAxis across;
  long columns = 0, frequencies = 0;
  const float* lines = nullptr;
  float* to = nullptr;  ///< the first of these columns, in the first row
};
struct PutColumnsKernel {
  using Args = PutColumnsArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lane = thread % kFftElement, column = thread / kFftElement % a.columns;
    const long row = thread / kFftElement / a.columns;
    a.to[(row * a.frequencies + column) * kFftElement + lane] =
        a.lines[(column * a.across.padded + a.across.before + row) * kFftElement + lane];
  }
};

/// What is inside of padded lines -> rows of projections. Threads: images x rows x size, pixels of
/// a row side by side.
struct PutRowsArgs {
  PaddedAxis along;
  long rows = 0, image_size = 0;
  const float* lines = nullptr;
  float* to = nullptr;  ///< the first of these rows, in the first projection
};
struct PutRowsKernel {
  using Args = PutRowsArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long x = thread % a.along.size, row = thread / a.along.size % a.rows;
    const long image = thread / a.along.size / a.rows;
    a.to[image * a.image_size + row * a.along.size + x] =
        a.lines[(row * a.along.padded + a.along.before + x) * kFftElement + image];
  }
};

}  // namespace tomoloom::gpu
