// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a fast scan on the CPU, thread by thread.
#include "fiberloom/redshift/gpu/scan_device_kernels.hpp"
#include "loom/device/emulated_launch.hpp"

namespace fiberloom::redshift::gpu {

const ScanDeviceKernels& emulated_scan_kernels() {
  static const ScanDeviceKernels table = [] {
    ScanDeviceKernels k{};
    fill_kernels<EmulatedRun>(k);
    return k;
  }();
  return table;
}

}  // namespace fiberloom::redshift::gpu
