// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a group of slices as CUDA kernels.
#include "tomoloom/reconstruct/gpu/slice_kernels.hpp"
#include "loom/device/cuda_launch.cuh"

namespace tomoloom::gpu {

const SliceKernels& cuda_slice_kernels() {
  static const SliceKernels table = slice_kernels_of<CudaRun>();
  return table;
}

}  // namespace tomoloom::gpu
