// SPDX-License-Identifier: BSD-3-Clause
// What a detector sees of slices: A of ray_pair.hpp, of arrays as callers have them, on a detector
// of any width.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "loom/base/executor.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/reconstruct/geometry.hpp"

namespace tomoloom {

/// `count` slices of `size` x `size` pixels, [slice][row][column].
struct SlicesView {
  const float* data = nullptr;
  std::size_t count = 0, size = 0;
};

/// Where line integrals go: value (angle, slice, x), x contiguous.
struct LinesView {
  float* data = nullptr;
  std::size_t angle_stride = 0, slice_stride = 0;
};

/// Line integrals of slices whose middle lies on the axis, averaged over each of the geometry's
/// columns, without any error: slices are constant in squares of the detector's pixel. Pixels that
/// are no numbers count as 0, light beyond the detector is lost. Angles' weights and a tilt are not
/// heeded. Takes 16 lines of 32 slices a thread; results do not depend on the executor. Calls
/// `before` from the caller's thread now and then: what it throws ends the work. O(slices angles
/// size^2).
void project_slices(const Geometry& geometry, const SlicesView& slices, const LinesView& lines,
                    Executor& executor, const std::function<void()>& before = {},
                    Isa isa = active_isa());

}  // namespace tomoloom
