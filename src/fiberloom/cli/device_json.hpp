// SPDX-License-Identifier: BSD-3-Clause
// What every --json says of the device.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fiberloom/extract/exact/gpu/device_engine.hpp"

namespace fiberloom::cli {

/// null where the CPU computed.
[[nodiscard]] nlohmann::ordered_json device_json(const DeviceEngine* engine);

}  // namespace fiberloom::cli
