// SPDX-License-Identifier: BSD-3-Clause
// Stands in for kernels_cuda.cu where CUDA is not compiled in.
#include "fiberloom/extract/exact/gpu/kernels.hpp"

namespace fiberloom::exact::gpu {

const DeviceKernels& cuda_kernels() { throw Error(Status::kDevice, "GPU: " + why_no_cuda()); }

}  // namespace fiberloom::exact::gpu
