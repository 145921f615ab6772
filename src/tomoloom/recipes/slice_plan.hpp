// SPDX-License-Identifier: BSD-3-Clause
// What turns line integrals into slices by the method that was asked for, and what it takes.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "loom/base/log.hpp"
#include "loom/device/backend.hpp"
#include "tomoloom/recipes/recon_job.hpp"
#include "tomoloom/reconstruct/convolved_engine.hpp"
#include "tomoloom/reconstruct/direct.hpp"
#include "tomoloom/reconstruct/gpu/device_slices.hpp"
#include "tomoloom/reconstruct/ray_engine.hpp"
#include "tomoloom/reconstruct/tilted_engine.hpp"

namespace tomoloom {

/// Tables of a direct method, or the geometry and choice of one that iterates, with tables where
/// A^T A is a convolution.
struct SlicePlan {
  Geometry geometry;
  std::optional<GridPlan> grid;
  RayChoice rays = {};
  std::optional<GridPlan> seen = {};

  /// Rows and columns of a slice.
  [[nodiscard]] std::size_t image() const noexcept { return geometry.columns; }
  /// Rows on either side of a block that its slices need.
  [[nodiscard]] std::size_t beside() const noexcept { return rows_beside(geometry); }
  /// Whether the one TiltedEngine makes its slices: kExact and kFbp with a tilted axis.
  [[nodiscard]] bool by_planes() const noexcept;
  /// Of a group of slices with all tables; of each thread.
  [[nodiscard]] std::uint64_t group_bytes() const noexcept;
  [[nodiscard]] std::uint64_t thread_bytes() const noexcept;
};

/// Whether slices are made on a card, as far as is known before one is opened: by rounding others.
[[nodiscard]] bool on_card(Backend backend) noexcept;

/// Throws kUnsupported where the method has no A^T A for Gram::kFft, or knows no tilted axis.
void check_method(const ReconJob& job);
/// Throws what check_method() does.
[[nodiscard]] SlicePlan plan_slices(const ReconJob& job, Geometry geometry,
                                    Executor& executor = serial_executor());

/// One group of slices after the other, after a plan that outlives it.
class SliceEngine {
 public:
  /// On what `backend` finds; a direct method alone goes to a card. Throws kUnsupported, kDevice
  /// where a card was insisted on.
  explicit SliceEngine(const SlicePlan& plan, Backend backend = Backend::kCpu,
                       const Observer& observer = {});
  /// A card of `backend`, or kCpu: also where kAuto found none with the memory.
  [[nodiscard]] Backend made_on() const noexcept { return made_on_; }
  /// Null where slices are made on the CPU.
  [[nodiscard]] DeviceSlices* card() noexcept { return device_.get(); }
  /// `before` is called before each iteration of a method that has some. Throws kUnsupported where
  /// those grow beyond any number.
  void reconstruct(const StackView& projections, const VolumeView& slices, Executor& executor,
                   const std::function<void(std::size_t)>& before);

 private:
  std::size_t image_;
  Backend made_on_ = Backend::kCpu;
  std::unique_ptr<DirectEngine> direct_;
  std::unique_ptr<DeviceSlices> device_;
  std::unique_ptr<RayEngine<float>> rays_;
  std::unique_ptr<ConvolvedEngine> convolved_;
  std::unique_ptr<TiltedEngine> tilted_;
};

}  // namespace tomoloom
