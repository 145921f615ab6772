// SPDX-License-Identifier: BSD-3-Clause
// Stands in for slice_kernels_cuda.cu where CUDA is not compiled in.
#include "loom/base/error.hpp"
#include "tomoloom/reconstruct/gpu/slice_kernels.hpp"

namespace tomoloom::gpu {

const SliceKernels& cuda_slice_kernels() { throw Error(Status::kDevice, "GPU: " + why_no_cuda()); }

}  // namespace tomoloom::gpu
