// SPDX-License-Identifier: BSD-3-Clause
// The pair A, A^T of slices made of square pixels: what methods that iterate stand on, and filtered
// back projection as their oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/reconstruct/geometry.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"

namespace tomoloom {

/// A of a slice is, for each angle and detector pixel, the line integral through the slice averaged
/// over the pixel's width, without any error: slices are constant in squares of the detector's
/// pixel, whose shadow is a trapezoid. A^T is its transpose, weight by weight: <A x, y> = <x, A^T
/// y> to within rounding. Sinograms are [angle][column], slices [row][column] (the axis in the
/// middle, as Geometry has it), of elements of kRaySlices<Real> slices side by side. Results do not
/// depend on the executor. O(angles columns^2) for all slices of the group together.
template <class Real>
class RayPair {
 public:
  explicit RayPair(const Geometry& geometry, Isa isa = active_isa());

  [[nodiscard]] std::size_t angles() const noexcept { return geometry_.theta.size(); }
  [[nodiscard]] std::size_t columns() const noexcept { return geometry_.columns; }
  /// Numbers of a group's sinograms, and of its slices.
  [[nodiscard]] std::size_t sinogram_size() const noexcept {
    return angles() * columns() * kRaySlices<Real>;
  }
  [[nodiscard]] std::size_t slice_size() const noexcept {
    return columns() * columns() * kRaySlices<Real>;
  }

  /// Of A with its rows multiplied by what the geometry weighs their angles with.
  /// sinogram = A slice.
  void project(const Real* slice, Real* sinogram, Executor& executor) const;
  /// slice = A^T sinogram.
  void back_project(const Real* sinogram, Real* slice, Executor& executor) const;

  /// The shadows of a row of pixels: weight[3 i + k] of pixel i falls into bin[i] + k.
  void cast(std::size_t angle, std::size_t row, std::vector<std::int32_t>& bin,
            std::vector<Real>& weight) const;

 private:
  [[nodiscard]] RowShadow shadow(std::size_t angle, std::size_t row) const;
  Geometry geometry_;
  std::vector<double> cos_, sin_;
  const RayKernels<Real>& kernels_;
};

extern template class RayPair<float>;
extern template class RayPair<double>;

}  // namespace tomoloom
