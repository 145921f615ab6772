// SPDX-License-Identifier: BSD-3-Clause
// Methods for least squares that need no more of a projection B than B^T b and B^T B, the latter as
// a convolution.
#pragma once

#include <vector>

#include "loom/base/array.hpp"
#include "tomoloom/reconstruct/direct.hpp"
#include "tomoloom/reconstruct/ray_engine.hpp"
#include "tomoloom/reconstruct/shadow_convolution.hpp"

namespace tomoloom {

/// kCgls, kTikh, kGrad and kTv as RayEngine has them, with ShadowConvolution's B for A; kSirt by
/// constant steps, R and C being the same for all rays and pixels. Results depend neither on the
/// executor nor, but for rounding, on which slices share a group.
template <class Real>
class ConvolvedSolver {
 public:
  using BeforeRound = typename RayEngine<Real>::BeforeRound;

  /// takes_convolution(choice.method) holds.
  ConvolvedSolver(const Geometry& geometry, const RayChoice& choice, Isa isa = active_isa());

  /// Numbers of a group of slices.
  [[nodiscard]] std::size_t slice_size() const noexcept { return step_.size(); }
  /// `seen` is B^T b, and used up. One application of the convolution in each iteration.
  void solve(Real* seen, Real* slice, Executor& executor, const BeforeRound& before = {});
  /// Beside `seen` and `slice`.
  [[nodiscard]] static std::size_t bytes(std::size_t columns, RayMethod method) noexcept;

 private:
  void descend(const Real* seen, Real* slice, Executor& executor, const BeforeRound& before);
  void conjugate(Real* seen, Real* slice, Executor& executor, const BeforeRound& before);
  void find_steps(const Real* seen, Real* slice, Executor& executor, const BeforeRound& before);
  void total_variation(const Real* seen, Real* slice, Executor& executor,
                       const BeforeRound& before);

  RayChoice choice_;
  std::size_t rays_;
  ShadowConvolution<Real> convolution_;
  Buffer<Real> step_, direction_;
  Buffer<Real> down_, right_, next_;  ///< of kTv: of each difference; the next slice
};

extern template class ConvolvedSolver<float>;
extern template class ConvolvedSolver<double>;

[[nodiscard]] bool takes_convolution(RayMethod method) noexcept;

/// B^T b by gridding, then the solver. Holds the memory of one group at a time.
class ConvolvedEngine {
 public:
  /// `seen` is plan_seen(geometry), and outlives it.
  ConvolvedEngine(const GridPlan& seen, const Geometry& geometry, const RayChoice& choice,
                  Isa isa = active_isa());

  /// Up to kSlicesPerGroup slices.
  void reconstruct(const StackView& projections, const VolumeView& slices, Executor& executor,
                   const RayEngine<float>::BeforeRound& before = {});
  /// Memory of a group with all tables, and of each thread.
  [[nodiscard]] static std::size_t group_bytes(const GridPlan& seen, RayMethod method) noexcept;
  [[nodiscard]] static std::size_t thread_bytes(const GridPlan& seen,
                                                const Geometry& geometry) noexcept;

 private:
  std::size_t columns_;
  DirectEngine seen_by_;
  ConvolvedSolver<float> solver_;
  Buffer<float> seen_, slice_;
};

}  // namespace tomoloom
