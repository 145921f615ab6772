// SPDX-License-Identifier: BSD-3-Clause
// What every --json says of the device.
#pragma once

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::cli {

/// null where the CPU computed.
[[nodiscard]] Json device_json(const DeviceEngine* engine);

}  // namespace fiberloom::cli
