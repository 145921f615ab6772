// SPDX-License-Identifier: BSD-3-Clause
// The CPU in place of a card: runs every thread of a launch grid as a function call, by one or
// several CPU threads and in an order of its own. Slow; for tests.
#pragma once

#include <functional>

#include "fiberloom/device/device.hpp"

namespace fiberloom {

struct EmulatedDeviceOptions {
  int threads = 1;
  std::size_t memory_bytes = std::size_t{4} << 30;
};

[[nodiscard]] std::unique_ptr<Device> make_emulated_device(
    const EmulatedDeviceOptions& options = {});

/// Calls kernel(0) ... kernel(threads - 1), from both ends inwards and spread over the device's CPU
/// threads: a kernel that minds the order shows. `stream` must be an emulated device's.
void run_emulated(Stream& stream, long threads, const std::function<void(long)>& kernel);

}  // namespace fiberloom
