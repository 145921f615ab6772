// SPDX-License-Identifier: BSD-3-Clause
// What all bodies share: fault injection, sums of stages.
#include "loom/device/device.hpp"

#include <algorithm>

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

std::vector<DeviceStageTime> sums_of_stages(const std::vector<StageRun>& runs) {
  std::vector<DeviceStageTime> sums;
  const auto earlier = [](const StageRun& a, const StageRun& b) { return a.begin < b.begin; };
  const auto first = std::min_element(runs.begin(), runs.end(), earlier);
  for (const StageRun& run : runs) {
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const DeviceStageTime& t) { return t.name == run.name; });
    if (sum == sums.end()) sum = sums.insert(sum, {run.name, 0, 0, 0, run.begin - first->begin, 0});
    sum->seconds += run.end - run.begin;
    sum->launches += run.launches;
    ++sum->count;
    sum->begin = std::min(sum->begin, run.begin - first->begin);
    sum->end = std::max(sum->end, run.end - first->begin);
  }
  return sums;
}

void Stream::renew(void* /*memory*/, std::size_t /*bytes*/, std::size_t /*beyond*/) {}

void Stream::count_launch() {
  device_.count(DeviceOperation::kLaunch);
  ++launches_;
}

}  // namespace loom
