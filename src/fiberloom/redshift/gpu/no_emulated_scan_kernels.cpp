// SPDX-License-Identifier: BSD-3-Clause
// Stands in for scan_kernels_emulated.cpp where emulation is not built in.
#include "fiberloom/redshift/gpu/scan_device_kernels.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::redshift::gpu {

const ScanDeviceKernels& emulated_scan_kernels() {
  throw Error(Status::kUnsupported,
              "emulation of a device: not in this build (-DFIBERLOOM_EMULATION=ON)");
}

}  // namespace fiberloom::redshift::gpu
