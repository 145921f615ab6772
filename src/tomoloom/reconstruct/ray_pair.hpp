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

/// Slices that stand for a group of them where the axis is tilted along the beam: `beside` rows on
/// either side of the group's are seen through its slices, and as many slices beyond those are what
/// such rows see as well. Without a tilt the group's own.
struct SliceStack {
  std::size_t beside = 0, groups = 1;

  /// Place of the group's first slice.
  [[nodiscard]] std::size_t first() const noexcept { return 2 * beside; }
};

/// Of groups of `slices`.
[[nodiscard]] SliceStack slice_stack(const Geometry& geometry, std::size_t slices) noexcept;

/// What row `row` of slices of `size` x `size` pixels casts at the angle of this cosine and sine,
/// the slices' middle on the axis.
[[nodiscard]] RowShadow row_shadow(std::size_t size, double centre, double cosine, double sine,
                                   std::size_t row) noexcept;

/// A of a slice is, for each angle and detector pixel, the line integral through the slice averaged
/// over the pixel's width, without any error: slices are constant in squares of the detector's
/// pixel, whose shadow is a trapezoid. A^T is its transpose, weight by weight: <A x, y> = <x, A^T
/// y> to within rounding. Sinograms are [angle][column], slices [row][column] (the axis in the
/// middle, as Geometry has it), of elements of kRaySlices<Real> slices side by side. Results do not
/// depend on the executor. O(angles columns^2) for all slices of the group together.
///
/// With an axis tilted along the beam rays cross slices: what a pixel adds to a row of the detector
/// lies between those of two slices, (-u sin + v cos) sin(tilt) from the row's own, linear between
/// them, and the ray is 1/cos(tilt) as long. Then a group is a stack of slices, [angle][group of
/// the stack][column] and [group of the stack][row][column], whose last slice has the first one
/// behind it: so that rows and columns of A have the sums of an upright one.
template <class Real>
class RayPair {
 public:
  explicit RayPair(const Geometry& geometry, Isa isa = active_isa());

  [[nodiscard]] std::size_t angles() const noexcept { return geometry_.theta.size(); }
  [[nodiscard]] std::size_t columns() const noexcept { return geometry_.columns; }
  [[nodiscard]] const SliceStack& stack() const noexcept { return stack_; }
  /// Numbers of a group's sinograms at one angle, of all of them, and of its slices.
  [[nodiscard]] std::size_t line_size() const noexcept {
    return stack_.groups * columns() * kRaySlices<Real>;
  }
  [[nodiscard]] std::size_t sinogram_size() const noexcept { return angles() * line_size(); }
  [[nodiscard]] std::size_t slice_size() const noexcept { return columns() * line_size(); }
  /// What each thread takes for a tilted axis.
  [[nodiscard]] static std::size_t thread_bytes(const Geometry& geometry) noexcept;

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
  [[nodiscard]] RowSlide slide(std::size_t angle, std::size_t row, std::size_t group,
                               double sign) const;
  void project_stack(const Real* slice, Real* sinogram, Executor& executor) const;
  void back_project_stack(const Real* sinogram, Real* slice, Executor& executor) const;

  Geometry geometry_;
  SliceStack stack_;
  std::vector<double> cos_, sin_;
  const RayKernels<Real>& kernels_;
};

extern template class RayPair<float>;
extern template class RayPair<double>;

}  // namespace tomoloom
