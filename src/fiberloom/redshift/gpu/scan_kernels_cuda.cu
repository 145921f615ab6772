// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a fast scan as CUDA kernels.
#include "fiberloom/redshift/gpu/scan_device_kernels.hpp"
#include "loom/device/cuda_launch.cuh"

namespace fiberloom::redshift::gpu {

const ScanDeviceKernels& cuda_scan_kernels() {
  static const ScanDeviceKernels table = [] {
    ScanDeviceKernels k{};
    fill_kernels<CudaRun>(k);
    return k;
  }();
  return table;
}

}  // namespace fiberloom::redshift::gpu
