// SPDX-License-Identifier: BSD-3-Clause
// Projection by frequencies, B, of which B^T B is a convolution: what iterations on whole slices
// need once they have B^T b.
#pragma once

#include <cstddef>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "loom/fft/fft.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/reconstruct/geometry.hpp"
#include "tomoloom/reconstruct/grid_plan.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"

namespace tomoloom {

/// Transform of what a pixel of the detector sees of a square pixel at angle theta: the entries of
/// RayPair's A as a function of the way between both, at x cycles a pixel.
[[nodiscard]] double shadow_response(double x, double theta);

/// B x, of each angle: sum over pixels p of x_p h(j - s_p) at the points j of a line that is padded
/// to padded_line(columns) and closed, s_p where p's middle is projected to, h the part of
/// shadow_response() below half a cycle a pixel. What is sampled has no higher frequency, so sums
/// over the points are integrals over the line: B^T B's entry of two pixels depends on the way from
/// one to the other alone. Of b the points that no detector is at are 0.

/// Number [row + n - 1][column + n - 1] of 2 n - 1 lines: the entry of two pixels so many columns
/// and rows apart, summed over the angles with their weights, to 1e-10 of the largest. O(angles
/// columns + columns^2 log columns).
[[nodiscard]] std::vector<double> shadow_overlaps(const Geometry& geometry, Isa isa = active_isa());

/// For B^T b with weights of angles, to 3e-6.
[[nodiscard]] GridPlan plan_seen(const Geometry& geometry, Executor& executor = serial_executor());

/// B^T B of slices as RayPair has them, by transforms of twice the size, exactly. Results do not
/// depend on the executor. O(columns^2 log columns) for all slices of the group together.
template <class Real>
class ShadowConvolution {
 public:
  explicit ShadowConvolution(const Geometry& geometry, Isa isa = active_isa());

  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
  /// out = B^T B slice; they may be the same memory.
  void apply(const Real* slice, Real* out, Executor& executor);
  /// No eigenvalue is above it.
  [[nodiscard]] double bound() const noexcept { return bound_; }
  /// Memory beside what a thread takes, which is what RayEngine's do.
  [[nodiscard]] static std::size_t bytes(std::size_t columns) noexcept;

 private:
  std::size_t columns_;
  fft::Plan<Real> forward_, back_;
  std::size_t stride_;          ///< elements from row to row of half_
  std::vector<Real> response_;  ///< [column frequency][row frequency], real since B^T B is even
  double bound_ = 0;
  Buffer<Real> half_;  ///< [row][column frequency] elements
};

extern template class ShadowConvolution<float>;
extern template class ShadowConvolution<double>;

}  // namespace tomoloom
