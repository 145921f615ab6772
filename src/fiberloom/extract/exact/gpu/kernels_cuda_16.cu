// SPDX-License-Identifier: BSD-3-Clause
// CUDA kernels of bands from 16 on.
#include "loom/device/cuda_launch.cuh"
#include "fiberloom/extract/exact/gpu/kernel_table.hpp"

namespace fiberloom::exact::gpu {

void fill_cuda_16(DeviceKernels& k);
void fill_cuda_16(DeviceKernels& k) {
  fill_band<CudaRun, 2>(k);
  fill_band<CudaRun, 3>(k);
}

}  // namespace fiberloom::exact::gpu
