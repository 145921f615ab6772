// SPDX-License-Identifier: BSD-3-Clause
// The passes of transforms as CUDA kernels.
#include "loom/fft/gpu/pass_kernels.hpp"
#include "loom/device/cuda_launch.cuh"

namespace loom::gpu {

const PassKernels& cuda_pass_kernels() {
  static const PassKernels table = [] {
    PassKernels k{};
    fill_kernels<CudaRun>(k);
    return k;
  }();
  return table;
}

}  // namespace loom::gpu
