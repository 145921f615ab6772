// SPDX-License-Identifier: BSD-3-Clause
// Gridding on a device: the CPU's text (grid_points_lane.hpp) with a lane of an
// element a thread, so that neighbouring threads have neighbouring numbers, and the CPU's layouts.
// Seen by host code and by .cu: plain data only.
#pragma once

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/reconstruct/grid_points_lane.hpp"

namespace tomoloom::gpu {

inline constexpr long kElement = static_cast<long>(kElementFloats);
inline constexpr long kHalfElement = static_cast<long>(kLanesOfGroup);

/// Line integrals of some angles -> elements; slices that are not there are 0. Threads: angles x
/// columns x kElement.
struct GatherArgs {
  long columns = 0, slices = 0;
  const float* projections = nullptr;  ///< [angle][slice][column]
  float* lines = nullptr;              ///< [angle][column] elements
};
struct GatherKernel {
  using Args = GatherArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lane = thread % kElement, x = thread / kElement % a.columns;
    const long angle = thread / kElement / a.columns;
    a.lines[thread] =
        lane < a.slices ? a.projections[(angle * a.slices + lane) * a.columns + x] : 0.0F;
  }
};

/// Spectra of some angles -> samples. Threads: angles x radii x kHalfElement.
struct WeighArgs {
  long padded = 0, radii = 0;
  const float* spectra = nullptr;  ///< [angle][padded] elements
  const float* coef = nullptr;     ///< of the first of these angles
  float* samples = nullptr;        ///< likewise
};
struct WeighKernel {
  using Args = WeighArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lane = thread % kHalfElement, j = thread / kHalfElement % a.radii;
    const long angle = thread / kHalfElement / a.radii;
    lane::weigh_point<FloatLane>(a.spectra + angle * a.padded * kElement,
                                 static_cast<std::size_t>(a.padded), a.coef + 2 * angle * a.radii,
                                 static_cast<std::size_t>(a.radii),
                                 a.samples + 2 * angle * a.radii * kElement,
                                 static_cast<std::size_t>(j), static_cast<std::size_t>(lane));
  }
};

/// Fills some rows of the grid, each with what falls on it, in the CPU's order: a thread has a lane
/// of a row for itself, so that no two write the same number. Threads: rows x kElement.
struct SpreadArgs {
  SpreadView view;
  GridRows rows;  ///< all of them
  long grid = 0;
  int periodic = 0;
};
struct SpreadKernel {
  using Args = SpreadArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long row = thread / kElement, reach = a.view.width + 1, half = a.grid / 2;
    const auto lane = static_cast<std::size_t>(thread % kElement);
    const lane::OneLane one{lane, lane + 1};
    GridRows own = a.rows;
    own.first += row;
    own.end = own.first + 1;
    own.data += row * static_cast<long>(own.stride);
    const long pad = static_cast<long>(own.origin) - half, width = a.grid + 2 * pad;
    for (long c = 0; c < width; ++c) own.data[c * kElement + static_cast<long>(lane)] = 0;
    add_all(a.view, own, 0, one);
    if (a.periodic == 0) return;
    if (own.first + a.grid < half + reach) add_all(a.view, own, a.grid, one);
    if (own.end - a.grid > -half - reach) add_all(a.view, own, -a.grid, one);
    for (long c = 0; c < pad; ++c) {  // what falls beyond the ends comes in on the other side
      float* const at = own.data + c * kElement + static_cast<long>(lane);
      at[a.grid * kElement] += at[0];
      at[pad * kElement] += at[(a.grid + pad) * kElement];
    }
  }

 private:
  struct AddAll {
    const SpreadView& view;
    const GridRows& rows;
    long turn;
    const lane::OneLane& one;
    template <int W>
    FL_LANE_HD void operator()() const {
      for (std::size_t angle = 0; angle < view.angles; ++angle) {
        lane::add_angle<FloatLane, W, false>(view, angle, rows, turn, one);
        lane::add_angle<FloatLane, W, true>(view, angle, rows, turn, one);
      }
    }
  };
  FL_LANE_HD static void add_all(const SpreadView& view, const GridRows& rows, long turn,
                                 const lane::OneLane& one) {
    lane::with_width(view.width, AddAll{view, rows, turn, one});
  }
};

/// Some transformed rows -> the columns that are wanted. Threads: rows x image x kElement.
struct CropArgs {
  long grid = 0, first = 0, image = 0;
  const float* scale = nullptr;
  const float* rows = nullptr;  ///< [row][grid] elements
  float* half = nullptr;        ///< [row][image] elements, of the first of these rows
};
struct CropKernel {
  using Args = CropArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lane = thread % kElement, k = thread / kElement % a.image;
    const long row = thread / kElement / a.image;
    const long from = (k + a.grid - a.first) % a.grid;
    a.half[thread] = a.scale[k] * a.rows[(row * a.grid + from) * kElement + lane];
  }
};

/// Some transformed columns -> rows of slices. Threads: columns x slices x image, pixels of a row
/// side by side.
struct ScatterArgs {
  long grid = 0, first = 0, image = 0, slices = 0;
  long column = 0;  ///< the first of them: row image - 1 - column of the slices
  const float* scale = nullptr;
  const float* columns = nullptr;  ///< [column][grid] elements
  float* out = nullptr;            ///< [slice][row][column]
};
struct ScatterKernel {
  using Args = ScatterArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long x = thread % a.image, slice = thread / a.image % a.slices;
    const long k = thread / a.image / a.slices, from = (x + a.grid - a.first) % a.grid;
    a.out[(slice * a.image + a.image - 1 - a.column - k) * a.image + x] =
        a.scale[x] * a.columns[(k * a.grid + from) * kElement + slice];
  }
};

}  // namespace tomoloom::gpu
