// SPDX-License-Identifier: BSD-3-Clause
// Direct reconstruction of a group of slices by gridding, after a GridPlan.
#pragma once

#include <memory>
#include <mutex>
#include <span>
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

/// Grid rows that are filled side by side: each sample is read (rows + width - 1)/rows times, and
/// the rows should stay in the second-level cache (8 of 1536 elements are 1.6 MB).
inline constexpr std::size_t kRowsPerTask = 8;

/// Part [first, end) of something.
struct Stretch {
  std::size_t first = 0, end = 0;
  [[nodiscard]] std::size_t size() const noexcept { return end - first; }
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

  // The stages of reconstruct(), of a part: parts that lie together, in whatever cut, make the same
  // bytes.
  /// Of angles [angles.first, angles.end), whose first is the view's first, to their samples.
  void transform_projections(const StackView& projections, const Stretch& angles,
                             Executor& executor);
  /// All samples that fall on these rows of the grid -> their transforms along the row. Begins and
  /// ends at a multiple of kRowsPerTask, or at the grid's end.
  void fill_grid(const Stretch& rows, Executor& executor);
  /// Rows of slices, counted from below; `slices` has these rows alone.
  void transform_columns(const VolumeView& slices, std::size_t count, const Stretch& rows,
                         Executor& executor);
  /// [angle][2][radius] elements, and [grid row][image].
  [[nodiscard]] std::span<float> samples() noexcept { return {samples_.data(), samples_.size()}; }
  [[nodiscard]] std::span<float> rows() noexcept { return {half_.data(), half_.size()}; }
  [[nodiscard]] const GridPlan& plan() const noexcept { return plan_; }

 private:
  void fill_rows(std::size_t block, float* work);

  const GridPlan& plan_;
  const GridKernels& kernels_;
  fft::Plan<float> line_, grid_;
  Buffer<float> samples_;  ///< [angle][2][radius] elements
  Buffer<float> half_;     ///< [grid row][image] elements: transformed along rows
  BorrowedFloats line_work_, row_work_, column_work_;
};

}  // namespace tomoloom
