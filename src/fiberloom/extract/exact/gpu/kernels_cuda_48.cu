// SPDX-License-Identifier: BSD-3-Clause
// CUDA kernels of bands from 48 on.
#include "loom/device/cuda_launch.cuh"
#include "fiberloom/extract/exact/gpu/kernel_table.hpp"

namespace fiberloom::exact::gpu {

void fill_cuda_48(DeviceKernels& k);
void fill_cuda_48(DeviceKernels& k) {
  fill_band<CudaRun, 5>(k);
  fill_band<CudaRun, 6>(k);
}

}  // namespace fiberloom::exact::gpu
