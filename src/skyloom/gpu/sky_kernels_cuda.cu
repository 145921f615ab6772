// SPDX-License-Identifier: BSD-3-Clause
// Pointing and the solver's step as CUDA kernels.
#include "skyloom/gpu/sky_kernels.hpp"
#include "loom/device/cuda_launch.cuh"

namespace skyloom::gpu {

const SkyKernels& cuda_sky_kernels() {
  static const SkyKernels table = sky_kernels_of<CudaRun>();
  return table;
}

}  // namespace skyloom::gpu
