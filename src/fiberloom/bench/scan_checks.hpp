// SPDX-License-Identifier: BSD-3-Clause
// What must hold of a scan for redshifts on a device, beside the checks of the extraction
// (gpu_checks.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fiberloom/foundation.hpp"
#include "loom/base/executor.hpp"
#include "loom/device/device.hpp"

namespace fiberloom {

struct ScanVerdict {
  bool passed = false;
  std::string detail;
};
/// Makes the device that is checked, anew each time.
using OpenDevice = std::function<std::unique_ptr<Device>()>;

[[nodiscard]] ScanVerdict check_scan_agrees(const OpenDevice& open, Executor& executor);
/// The same bytes again, in little memory, and from several threads; an error in too little.
[[nodiscard]] ScanVerdict check_scan_repeats(const OpenDevice& open, Executor& executor);
/// Every kind of failure ends in an error, or on the CPU, and the next scan is right.
[[nodiscard]] ScanVerdict check_scan_faults(const OpenDevice& open, Executor& executor);

}  // namespace fiberloom
