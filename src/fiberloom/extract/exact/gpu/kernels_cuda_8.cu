// SPDX-License-Identifier: BSD-3-Clause
// CUDA kernels of bands from 8 on.
#include "loom/device/cuda_launch.cuh"
#include "fiberloom/extract/exact/gpu/kernel_table.hpp"

namespace fiberloom::exact::gpu {

void fill_cuda_8(DeviceKernels& k);
void fill_cuda_8(DeviceKernels& k) {
  fill_band<CudaRun, 0>(k);
  fill_band<CudaRun, 1>(k);
}

}  // namespace fiberloom::exact::gpu
