// SPDX-License-Identifier: BSD-3-Clause
// What all bodies share: fault injection.
#include "loom/device/device.hpp"

namespace loom {

void Device::inject(DeviceFault fault) noexcept {
  fault_after_ = fault.after;
  fault_operation_ = fault.after < 0 ? -1 : static_cast<int>(fault.operation);
}

void Device::count(DeviceOperation operation) {
  const int fault = fault_operation_;
  if (fault != static_cast<int>(operation) && fault != static_cast<int>(DeviceOperation::kAny))
    return;
  if (fault_after_.fetch_sub(1) > 0) return;
  fault_after_ = 0;
  static constexpr const char* kNames[] = {"allocation", "copy", "launch", "synchronization",
                                           "question"};
  throw Error(Status::kDevice,
              std::string("GPU: injected fault in a ") + kNames[static_cast<int>(operation)]);
}

void Stream::renew(void* /*memory*/, std::size_t /*bytes*/, std::size_t /*beyond*/) {}

void Stream::count_launch() {
  device_.count(DeviceOperation::kLaunch);
  ++launches_;
}

}  // namespace loom
