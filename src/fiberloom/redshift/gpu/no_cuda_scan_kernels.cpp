// SPDX-License-Identifier: BSD-3-Clause
// Stands in for scan_kernels_cuda.cu where CUDA is not compiled in.
#include "fiberloom/redshift/gpu/scan_device_kernels.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::redshift::gpu {

const ScanDeviceKernels& cuda_scan_kernels() {
  throw Error(Status::kDevice, "GPU: " + why_no_cuda());
}

}  // namespace fiberloom::redshift::gpu
