// SPDX-License-Identifier: BSD-3-Clause
// Stands in for pass_kernels_cuda.cu where CUDA is not compiled in.
#include "loom/base/error.hpp"
#include "loom/fft/gpu/pass_kernels.hpp"

namespace loom::gpu {

const PassKernels& cuda_pass_kernels() { throw Error(Status::kDevice, "GPU: " + why_no_cuda()); }

}  // namespace loom::gpu
