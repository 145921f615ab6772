// SPDX-License-Identifier: BSD-3-Clause
// Pointing on a device: what expand_pointing() does on the CPU, by the same text.
#pragma once

#include <memory>

#include "loom/device/device.hpp"
#include "skyloom/pointing/expand.hpp"

namespace skyloom {

namespace gpu {
struct SkyKernels;
}

/// A boresight on a device, seen by one detector after another. One thread. On a card the results
/// differ from the CPU's by rounding: a weight by some eps, a pixel where a sample lies on a border
/// to some eps.
class DevicePointing {
 public:
  /// Both outlive it. Throws kDevice, as expand() does.
  DevicePointing(const Boresight& boresight, Device& device);
  ~DevicePointing();

  /// All samples of the boresight.
  void expand(const Detector& detector, const SkyGrid& grid, const Pointing& out);

 private:
  struct Arrays;

  const Boresight& boresight_;
  const gpu::SkyKernels& kernels_;
  std::unique_ptr<loom::Stream> stream_;
  DeviceMemory memory_;
  HostMemory staging_;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace skyloom
