// SPDX-License-Identifier: BSD-3-Clause
// The loop of inpaint()'s weighted means of an ISA level. For inpaint.cpp and inpaint_cpu.cpp.
#pragma once

#include <cstddef>

#include "loom/simd/isa.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Values side by side that weighted sums are made of; a window's line is a multiple of it.
inline constexpr std::size_t kInpaintLanes = 16;

/// A window of lines [plane][row] from `corner` on; weights are products of one for each axis.
struct InpaintWindow {
  const float* corner = nullptr;
  std::size_t planes = 0, rows = 0, columns = 0;  ///< columns: a multiple of kInpaintLanes
  std::size_t row_step = 0, plane_step = 0;
  const float* of_plane = nullptr;
  const float* of_row = nullptr;
  const float* of_column = nullptr;
};

struct WeightedSum {
  float values, weights;  ///< of values that are not 0
};

struct InpaintKernels {
  WeightedSum (*weighted_sum)(const InpaintWindow& window);
};

[[nodiscard]] const InpaintKernels& inpaint_kernels(Isa isa);

}  // namespace tomoloom
