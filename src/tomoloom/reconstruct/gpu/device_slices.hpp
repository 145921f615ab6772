// SPDX-License-Identifier: BSD-3-Clause
// A group of slices after a GridPlan on a device: what DirectEngine does on the CPU, by the same
// texts in the same order.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "loom/base/executor.hpp"
#include "loom/device/device.hpp"
#include "loom/fft/gpu/device_transform.hpp"
#include "tomoloom/reconstruct/grid_plan.hpp"

namespace tomoloom {

namespace gpu {
struct SliceKernels;
}

/// Brings line integrals of angles [first, first + count) to their places in `all`, memory of the
/// device, [angle][slice][column]; asked for one run of angles after the other, the first one
/// first. `staging`: page-locked, as many floats, each of which is used once.
using LineFeed = std::function<void(std::size_t first, std::size_t count, float* all,
                                    Stream& stream, HostMemory& staging)>;

/// Its results differ from the CPU's by rounding alone. One group at a time, one thread.
class DeviceSlices {
 public:
  /// The plan outlives it; the device is taken over. Throws kDevice: no memory for the group, or
  /// the device fails; reconstruct() too.
  DeviceSlices(const GridPlan& plan, std::unique_ptr<Device> device);
  ~DeviceSlices();

  /// Device memory of a plan's group, at least; more makes it faster.
  [[nodiscard]] static std::size_t least_bytes(const GridPlan& plan);
  /// Page-locked memory of the host that it takes.
  [[nodiscard]] static std::size_t host_bytes(const GridPlan& plan) noexcept;

  /// Up to kSlicesPerGroup slices, as DirectEngine::reconstruct(). The executor's threads copy what
  /// goes there and what comes back, while the card works.
  void reconstruct(const StackView& projections, const VolumeView& slices, Executor& executor);
  /// The same of `count` slices whose line integrals others bring.
  void reconstruct(std::size_t count, const LineFeed& feed, const VolumeView& slices,
                   Executor& executor);

  /// For those who bring them.
  [[nodiscard]] Device& device() noexcept { return *device_; }
  [[nodiscard]] Stream& stream() noexcept { return *stream_; }
  /// In no use between reconstructions.
  [[nodiscard]] HostMemory& staging() noexcept { return staging_; }

 private:
  struct Arrays;
  [[nodiscard]] static std::size_t batch_for(const GridPlan& plan, std::size_t free_bytes);
  void send_plan();
  void make_samples(std::size_t slices, const LineFeed& feed);
  void fetch_slices(std::size_t count, const VolumeView& slices, Executor& executor);
  void make_half();
  void make_slices(std::size_t slices);

  const GridPlan& plan_;
  std::unique_ptr<Device> device_;
  DeviceInfo info_;    ///< as it was found: asking a card what it is takes as long as a launch
  std::size_t batch_;  ///< lines, rows, columns whose transforms go on at the same time
  const gpu::SliceKernels& kernels_;
  std::unique_ptr<Stream> stream_;
  DeviceTransform line_, grid_;
  DeviceMemory memory_;
  HostMemory staging_;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace tomoloom
