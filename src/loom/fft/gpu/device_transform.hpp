// SPDX-License-Identifier: BSD-3-Clause
// A plan's transforms on a device, many lines at a time.
#pragma once

#include <cstddef>

#include "loom/device/device.hpp"
#include "loom/fft/fft.hpp"

namespace loom {

namespace gpu {
struct PassKernels;
}

/// Lines of elements.
struct DeviceLines {
  const float* data = nullptr;
  long line = 0;   ///< numbers from a line to the next
  long step = 1;   ///< elements of a line are so many elements apart
  long count = 0;  ///< of them; those behind are 0
};

/// What fft::Plan<float>::run() does on the CPU, by the same text.
class DeviceTransform {
 public:
  /// Throws kInternal where fft::is_length(n) does not hold; kDevice, kUnsupported without kernels.
  DeviceTransform(std::size_t n, fft::Sign sign, const DeviceInfo& info);

  [[nodiscard]] std::size_t twiddle_count() const noexcept { return plan_.twiddle_count(); }
  /// The plan's factors to memory of the device, which outlives this. Waits.
  void send(Stream& stream, float* twiddles, HostMemory& staging);
  /// Transforms of so many lines, by way of `work`, each with room for as many elements; where they
  /// lie, [line][length] elements: in `out`, or where that is null in one of `work`. Lines may lie
  /// in work[1], not in work[0].
  float* run(Stream& stream, long lines, DeviceLines in, float* const (&work)[2],
             float* out = nullptr) const;

 private:
  fft::Plan<float> plan_;
  const gpu::PassKernels& kernels_;
  const float* twiddles_ = nullptr;
};

}  // namespace loom
