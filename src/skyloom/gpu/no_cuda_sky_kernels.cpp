// SPDX-License-Identifier: BSD-3-Clause
// Stands in for sky_kernels_cuda.cu where CUDA is not compiled in.
#include "loom/base/error.hpp"
#include "skyloom/gpu/sky_kernels.hpp"

namespace skyloom::gpu {

const SkyKernels& cuda_sky_kernels() { throw Error(Status::kDevice, "GPU: " + why_no_cuda()); }

}  // namespace skyloom::gpu
