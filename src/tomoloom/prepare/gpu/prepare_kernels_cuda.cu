// SPDX-License-Identifier: BSD-3-Clause
// The kernels of preparation as CUDA kernels.
#include "tomoloom/prepare/gpu/prepare_kernels.hpp"
#include "loom/device/cuda_launch.cuh"

namespace tomoloom::gpu {

const PrepareKernels& cuda_prepare_kernels() {
  static const PrepareKernels table = prepare_kernels_of<CudaRun>();
  return table;
}

}  // namespace tomoloom::gpu
