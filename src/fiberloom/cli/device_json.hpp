// SPDX-License-Identifier: BSD-3-Clause
// What every --json says of the device.
#pragma once

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/redshift/gpu/device_scan.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::cli {

/// null where the CPU computed.
[[nodiscard]] Json device_json(const DeviceEngine* engine);
[[nodiscard]] Json device_json(const redshift::DeviceScan* scanner);
/// What the CPU took over from a device of scans.
[[nodiscard]] Json taken_over_json(const redshift::DeviceScan* scanner);

}  // namespace fiberloom::cli
