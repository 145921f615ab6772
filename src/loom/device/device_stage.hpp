// SPDX-License-Identifier: BSD-3-Clause
// A stage of work on a device, for as long as an object lives.
#pragma once

#include <exception>

#include "loom/device/device.hpp"
#include "loom/trace/range.hpp"

namespace loom {

/// Names a stage for the device's clock, and for a profiler.
class DeviceStage {
 public:
  DeviceStage(Stream& stream, const char* name) : range_(name), stream_(stream) {
    stream.begin_stage(name);
  }
  DeviceStage(const DeviceStage&) = delete;
  DeviceStage& operator=(const DeviceStage&) = delete;
  ~DeviceStage() noexcept(false) {
    if (std::uncaught_exceptions() == entered_) stream_.end_stage();
  }

 private:
  Range range_;  // ends however the stage does
  Stream& stream_;
  int entered_ = std::uncaught_exceptions();
};

}  // namespace loom
