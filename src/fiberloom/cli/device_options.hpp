// SPDX-License-Identifier: BSD-3-Clause
// --backend and what belongs to it, the same for every command that extracts.
#pragma once

#include <memory>

#include "fiberloom/base/log.hpp"
#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/pipeline/extract_frame.hpp"

namespace CLI {
class App;
}

namespace fiberloom::cli {

struct DeviceChoice {
  Backend backend = Backend::kAuto;
  double memory_gb = 0;  ///< 10^9 bytes of each card; 0: most of what is free
  DeviceEngineOptions options;
};

void add_device_options(CLI::App& app, DeviceChoice& choice);

/// Throws kUsage when a device was asked for and the method has none.
void check_device(const DeviceChoice& choice, Method method);

/// The device's engine, null where the CPU computes. Throws kDevice when it cannot be had.
[[nodiscard]] std::shared_ptr<DeviceEngine> open_device(const DeviceChoice& choice, Method method,
                                                        const Observer& observer);

}  // namespace fiberloom::cli
