// SPDX-License-Identifier: BSD-3-Clause
// Direct reconstruction of a group of slices by gridding, after a GridPlan.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "loom/fft/fft.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/reconstruct/grid_kernels.hpp"
#include "tomoloom/reconstruct/grid_plan.hpp"

namespace tomoloom {

/// Memory that tasks borrow: as many pieces as tasks ran at once, kept for the next ones.
class BorrowedFloats {
 public:
  explicit BorrowedFloats(std::size_t size) : size_(size) {}
  /// Calls use(float*) with a piece of its own, whose content is whatever was left in it.
  template <class Use>
  void with(const Use& use) {
    std::unique_ptr<Buffer<float>> piece = take();
    use(piece->data());
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(piece));
  }

 private:
  std::unique_ptr<Buffer<float>> take();
  std::size_t size_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer<float>>> free_;
};

/// Holds the memory of one group at a time: for groups side by side make one for each. Results
/// depend neither on the executor nor on which slices share a group, but for rounding: slices l and
/// 16 + l of a group share a transform.
class DirectEngine {
 public:
  explicit DirectEngine(const GridPlan& plan, Isa isa = active_isa());

  /// What each thread takes beside the plan's group_bytes().
  [[nodiscard]] static std::size_t thread_bytes(const GridPlan& plan) noexcept;

  /// Up to kSlicesPerGroup slices, columns as the plan has them. O(angles radii width^2 + grid^2
  /// log grid) for all slices of the group together.
  void reconstruct(const StackView& projections, const VolumeView& slices, Executor& executor);

 private:
  void transform_projections(const StackView& projections, Executor& executor);
  void fill_grid(Executor& executor);
  void fill_rows(std::size_t block, float* work);
  void transform_columns(const VolumeView& slices, std::size_t count, Executor& executor);

  const GridPlan& plan_;
  const GridKernels& kernels_;
  fft::Plan<float> line_, grid_;
  Buffer<float> samples_;  ///< [angle][2][radius] elements
  Buffer<float> half_;     ///< [grid row][image] elements: transformed along rows
  BorrowedFloats line_work_, row_work_, column_work_;
};

}  // namespace tomoloom
