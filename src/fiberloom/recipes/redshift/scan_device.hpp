// SPDX-License-Identifier: BSD-3-Clause
// Which processor scans for redshifts, as a user chooses it: the command line and Python open it
// here.
#pragma once

#include <memory>

#include "fiberloom/recipes/device_choice.hpp"
#include "fiberloom/recipes/redshift/redshift_job.hpp"
#include "fiberloom/redshift/gpu/device_scan.hpp"

namespace fiberloom {

/// Throws kUsage when a device was asked for and the method has none.
void check_scan_device(const DeviceChoice& choice, RedshiftMethod method);

/// Null: the CPU scans, as it always does but for the fast method. Throws kUsage as
/// check_scan_device(), kDevice when the device cannot be had.
[[nodiscard]] std::shared_ptr<redshift::DeviceScan> open_scan_device(const DeviceChoice& choice,
                                                                     RedshiftMethod method,
                                                                     const Observer& observer);

}  // namespace fiberloom
