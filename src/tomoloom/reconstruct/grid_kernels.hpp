// SPDX-License-Identifier: BSD-3-Clause
// The loops over all slices of a group, as tables of an ISA level. For direct.cpp and *_cpu.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loom/simd/isa.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// An element: the real parts of 16 lanes, then the imaginary ones. Lane l holds slice l as real
/// and slice 16 + l as imaginary part.
inline constexpr std::size_t kLanesOfGroup = kFloatLanes, kElementFloats = 2 * kLanesOfGroup;

/// GridPlan's tables as plain pointers, and samples [angle][2][radius] of elements: frequencies
/// from 0 up, then from 0 down.
struct SpreadView {
  std::size_t angles = 0, radii = 0;
  const double* slope = nullptr;
  const std::int32_t* corner = nullptr;
  const float* weight = nullptr;
  const float* samples = nullptr;
  int width = 0;
};

/// Rows [first, end) of the grid, counted from its middle; element (row, column) is at
/// data + (row - first) * stride + (column + origin) * kElementFloats.
struct GridRows {
  long first = 0, end = 0;
  float* data = nullptr;
  std::size_t stride = 0, origin = 0;
};

struct GridKernels {
  /// Rows of slices -> elements [columns]. `rows`: one pointer a slice.
  void (*gather)(const float* const* rows, std::size_t slices, std::size_t columns, float* out);
  /// The transform of a projection times coef -> its samples of both signs.
  void (*weigh)(const float* spectrum, std::size_t padded, const float* coef, std::size_t radii,
                float* samples);
  /// Adds what falls on these rows (shifted by `turn` rows), in a fixed order.
  void (*spread)(const SpreadView& view, const GridRows& rows, long turn);
  /// to[k] = scale[k] * from[(k - first) mod grid].
  void (*crop)(const float* from, std::size_t grid, std::size_t first, const float* scale,
               std::size_t image, float* to);
  /// The same, to slices: `rows` is one pointer a slice.
  void (*scatter)(const float* from, std::size_t grid, std::size_t first, const float* scale,
                  std::size_t image, float* const* rows, std::size_t slices);
};

[[nodiscard]] const GridKernels& grid_kernels(Isa isa);

}  // namespace tomoloom
