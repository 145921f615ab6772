// SPDX-License-Identifier: BSD-3-Clause
// What computes, as a user says it, and the devices that answer to it. Knows no work.
#pragma once

#include <memory>
#include <vector>

#include "loom/base/log.hpp"
#include "loom/device/device.hpp"

namespace loom {

enum class Backend {
  kAuto,  ///< CUDA where it is compiled in and a card is there, else the CPU
  kCpu,
  kCuda,
  kEmulate,  ///< the device's algorithm on the CPU, for tests: slow
};

/// What to do when the device fails in the middle of its work.
enum class OnDeviceError { kFail, kCpu };

/// What to do with work that no device has the memory for.
enum class TooLarge { kFail, kCpu };

/// The devices that `backend` asks for, none for the CPU. Cards that are too old, of another
/// capability than the first, or cannot be opened are left out. Throws kDevice when kCuda finds
/// none.
[[nodiscard]] std::vector<std::unique_ptr<Device>> open_devices(Backend backend,
                                                                const Observer& observer);

/// What results depend on: 0 for the CPU (null), 1 for the CPU in place of a card, else a card's
/// compute capability (90 for 9.0). The results of two kinds differ by rounding.
[[nodiscard]] int device_kind(const DeviceInfo* info) noexcept;

}  // namespace loom
