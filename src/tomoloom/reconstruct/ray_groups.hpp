// SPDX-License-Identifier: BSD-3-Clause
// Slices and their projections into groups of elements, and back.
#pragma once

#include <algorithm>
#include <span>

#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/geometry.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"

namespace tomoloom::rays {

/// A line of each slice into elements; slices that there are not are 0.
template <class Real>
void gather_line(const StackView& lines, std::size_t columns, Real* elements) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  std::fill_n(elements, columns * kSlices, Real(0));
  for (std::size_t l = 0; l < lines.slices; ++l) {
    const float* const from = lines.data + l * lines.slice_stride;
    for (std::size_t x = 0; x < columns; ++x)
      elements[x * kSlices + l] = static_cast<Real>(from[x]);
  }
}

/// [angle of `order`][column] elements.
template <class Real>
void gather(const StackView& projections, std::span<const std::size_t> order, std::size_t columns,
            Real* sinogram, Executor& executor) {
  executor.run(order.size(), [&](std::size_t a) {
    StackView angle = projections;
    angle.data += order[a] * projections.angle_stride;
    gather_line(angle, columns, sinogram + a * columns * kRaySlices<Real>);
  });
}

template <class Real>
void scatter(const Real* group, std::size_t count, std::size_t columns, const VolumeView& slices,
             Executor& executor) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  executor.run(columns, [&](std::size_t row) {
    const Real* const line = group + row * columns * kSlices;
    for (std::size_t l = 0; l < count; ++l) {
      float* const to = slices.data + l * slices.slice_stride + row * slices.row_stride;
      for (std::size_t x = 0; x < columns; ++x) to[x] = static_cast<float>(line[x * kSlices + l]);
    }
  });
}

}  // namespace tomoloom::rays
