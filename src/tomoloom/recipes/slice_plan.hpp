// SPDX-License-Identifier: BSD-3-Clause
// What turns line integrals into slices by the method that was asked for, and what it takes.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "tomoloom/recipes/recon_job.hpp"
#include "tomoloom/reconstruct/direct.hpp"
#include "tomoloom/reconstruct/ray_engine.hpp"

namespace tomoloom {

/// Tables of a direct method, or the geometry and choice of one that stands on A and A^T.
struct SlicePlan {
  Geometry geometry;
  std::optional<GridPlan> grid;
  RayChoice rays = {};

  /// Rows and columns of a slice.
  [[nodiscard]] std::size_t image() const noexcept { return geometry.columns; }
  /// Of a group of slices with all tables; of each thread.
  [[nodiscard]] std::uint64_t group_bytes() const noexcept;
  [[nodiscard]] std::uint64_t thread_bytes() const noexcept;
};

[[nodiscard]] SlicePlan plan_slices(const ReconJob& job, Geometry geometry);

/// One group of slices after the other, after a plan that outlives it.
class SliceEngine {
 public:
  explicit SliceEngine(const SlicePlan& plan);
  /// `before` is called before each iteration of a method that has some.
  void reconstruct(const StackView& projections, const VolumeView& slices, Executor& executor,
                   const std::function<void(std::size_t)>& before);

 private:
  std::unique_ptr<DirectEngine> direct_;
  std::unique_ptr<RayEngine<float>> rays_;
};

}  // namespace tomoloom
