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

/// Rows of a stack of groups, those of the projections from `first` on and `beside` on either side;
/// those that there are not are the last one.
struct StackRows {
  std::size_t first = 0, beside = 0, groups = 1;
};

/// [angle of `order`][group of the stack][column] elements; 0 beyond the rows.
template <class Real>
void gather_stack(const StackView& projections, const StackRows& rows,
                  std::span<const std::size_t> order, std::size_t columns, Real* sinogram,
                  Executor& executor) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const std::size_t line = rows.groups * columns * kSlices;
  const auto beside = static_cast<std::ptrdiff_t>(rows.beside);
  const auto least = -static_cast<std::ptrdiff_t>(projections.before);
  const auto most = static_cast<std::ptrdiff_t>(projections.slices + projections.after) - 1;
  executor.run(order.size(), [&](std::size_t a) {
    Real* const elements = sinogram + a * line;
    std::fill_n(elements, line, Real(0));
    for (std::ptrdiff_t r = -beside; r < static_cast<std::ptrdiff_t>(projections.slices) + beside;
         ++r) {
      const float* const from =
          projections.data + order[a] * projections.angle_stride +
          std::clamp(r, least, most) * static_cast<std::ptrdiff_t>(projections.slice_stride);
      const auto place = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(rows.first) + r);
      Real* const to = elements + place / kSlices * columns * kSlices + place % kSlices;
      for (std::size_t x = 0; x < columns; ++x) to[x * kSlices] = static_cast<Real>(from[x]);
    }
  });
}

/// `count` slices from place `first` of a group, or of a stack of groups, on.
template <class Real>
void scatter(const Real* stack, std::size_t first, std::size_t count, std::size_t columns,
             const VolumeView& slices, Executor& executor) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  executor.run(columns, [&](std::size_t row) {
    for (std::size_t s = 0; s < count; ++s) {
      const std::size_t place = first + s;
      const Real* const line =
          stack + (place / kSlices * columns + row) * columns * kSlices + place % kSlices;
      float* const to = slices.data + s * slices.slice_stride + row * slices.row_stride;
      for (std::size_t x = 0; x < columns; ++x) to[x] = static_cast<float>(line[x * kSlices]);
    }
  });
}

}  // namespace tomoloom::rays
