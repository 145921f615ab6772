// SPDX-License-Identifier: BSD-3-Clause
// Phase retrieval of whole projections on a device: what PhaseFilter does on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "loom/base/executor.hpp"
#include "loom/device/device.hpp"
#include "loom/fft/gpu/device_transform.hpp"
#include "tomoloom/prepare/phase.hpp"

namespace tomoloom {

namespace gpu {
struct PrepareKernels;
}

/// Its results differ from the CPU's by rounding alone. One thread.
class DevicePhase {
 public:
  /// Projections that go through together.
  static constexpr std::size_t kImages = 32;

  /// Whether the padded axes have lengths that it transforms: all but those of TomoPy's filter
  /// without padding.
  [[nodiscard]] static bool knows(const PhaseChoice& choice, std::size_t rows, std::size_t columns);
  /// Page-locked memory of the host that it takes.
  [[nodiscard]] static std::uint64_t host_bytes(std::size_t rows, std::size_t columns) noexcept;

  /// The device is taken over. Throws kDevice: no memory for kImages projections, or the device
  /// fails; run() too.
  DevicePhase(const PhaseChoice& choice, std::size_t rows, std::size_t columns,
              std::unique_ptr<Device> device);
  ~DevicePhase();

  /// Rows [first, first + count) of up to kImages projections [image][row][column], filtered.
  void run(std::span<const float> images, std::size_t first, std::size_t count,
           std::span<float> out, Executor& executor);

 private:
  struct Arrays;
  void rows_there(std::size_t images);
  void columns_filtered();
  void rows_back(std::size_t images, std::size_t first, std::size_t count);

  float alpha_;
  PhaseAxis row_axis_, column_axis_;
  std::unique_ptr<Device> device_;
  DeviceInfo info_;  ///< as it was found: asking a card what it is takes as long as a launch
  const gpu::PrepareKernels& kernels_;
  std::unique_ptr<Stream> stream_;
  DeviceTransform along_, along_back_, across_, across_back_;
  DeviceMemory memory_;
  HostMemory staging_;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace tomoloom
