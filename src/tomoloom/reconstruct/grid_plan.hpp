// SPDX-License-Identifier: BSD-3-Clause
// What gridding needs that depends on the geometry alone: where each radial frequency of each angle
// falls on the grid, with which weights, and what it is multiplied by. One plan serves all slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/filter.hpp"
#include "tomoloom/reconstruct/geometry.hpp"

namespace tomoloom {

/// A slice is f(u, v) = scale_u(u) scale_v(v) sum over grid points (p, q) of
/// G[p][q] exp(-2 pi i (p u + q v) / grid), where G is the sum over angles and frequencies -radii
/// < j < radii of coef_j S_j w(p - p_j) w(q - q_j), and S_j = sum over x of data[x]
/// exp(2 pi i j x / padded).
struct GridPlan {
  std::size_t angles = 0, columns = 0;
  std::size_t padded = 0;  ///< length of the transforms along projections
  std::size_t radii = 0;   ///< frequencies 0 ... radii - 1 of an angle; below 0 by symmetry
  std::size_t grid = 0;    ///< rows and columns of the grid, even
  std::size_t image = 0;   ///< rows and columns of a slice
  std::size_t first = 0;   ///< column and row (from below) `first` of a slice is the grid's origin
  int width = 0;           ///< points of the kernel along an axis
  bool periodic = true;    ///< what falls beyond the grid comes in on the other side
  std::vector<double> slope;            ///< [angle] grid rows a frequency
  std::vector<std::int32_t> corner;     ///< [angle][radius] of (row, column) with the first weight
  std::vector<float> weight;            ///< [angle][radius][2][width]: rows, columns
  std::vector<float> coef;              ///< [angle][radius] of (real, imaginary)
  std::vector<float> scale_u, scale_v;  ///< [image], by column, by row from below

  [[nodiscard]] std::size_t point(std::size_t angle, std::size_t radius) const noexcept {
    return angle * radii + radius;
  }
  /// Bytes of its own, and of what a group of slices takes while it is reconstructed.
  [[nodiscard]] std::size_t table_bytes() const noexcept;
  [[nodiscard]] std::size_t group_bytes() const noexcept;
};

/// An empty plan with all tables of their sizes.
[[nodiscard]] GridPlan sized_plan(std::size_t angles, std::size_t columns, std::size_t padded,
                                  std::size_t grid, int width);

/// TomoPy's gridrec with its own constants: no padding beyond the next power of two, weights
/// rounded to the nearest of a table, a ramp of twice the physical size, the axis at column N/2 and
/// row N/2 - 1 of the slice. Its arrays are met to 1e-5 in relative L2, rounding alone differs; the
/// outermost row and column of a slice as wide as the grid are TomoPy's read beyond an array, ours
/// repeats the last value of the table.
[[nodiscard]] GridPlan plan_gridrec(const Geometry& geometry, const FilterChoice& filter,
                                    Executor& executor = serial_executor());

/// How exact: the kernel's width, and how much finer than the image the grid is.
struct ExactChoice {
  int width = 5;
  double oversampling = 1.5;
};

/// Points of a projection's line with its padding.
[[nodiscard]] std::size_t padded_line(std::size_t columns);

/// The adjoint of a non-uniform transform with a kernel whose transform is known: twice padded
/// projections whose frequency `radius` is multiplied by size(angle, radius). The axis is at the
/// middle of the slice, (N - 1)/2 in both directions.
[[nodiscard]] GridPlan plan_radial(const Geometry& geometry, const ExactChoice& choice,
                                   const std::function<double(std::size_t, std::size_t)>& size,
                                   Executor& executor = serial_executor());

/// plan_radial() with the band-limited ramp, a window, and each angle weighted by what it stands
/// for.
[[nodiscard]] GridPlan plan_exact(const Geometry& geometry, const FilterChoice& filter,
                                  const ExactChoice& choice = {},
                                  Executor& executor = serial_executor());

}  // namespace tomoloom
