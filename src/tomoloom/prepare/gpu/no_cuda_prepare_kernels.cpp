// SPDX-License-Identifier: BSD-3-Clause
// Stands in for prepare_kernels_cuda.cu where CUDA is not compiled in.
#include "loom/base/error.hpp"
#include "tomoloom/prepare/gpu/prepare_kernels.hpp"

namespace tomoloom::gpu {

const PrepareKernels& cuda_prepare_kernels() {
  throw Error(Status::kDevice, "GPU: " + why_no_cuda());
}

}  // namespace tomoloom::gpu
