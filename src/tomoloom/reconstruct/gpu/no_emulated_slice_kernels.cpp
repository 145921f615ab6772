// SPDX-License-Identifier: BSD-3-Clause
// Stands in for slice_kernels_emulated.cpp where emulation is not built in.
#include "loom/base/error.hpp"
#include "tomoloom/reconstruct/gpu/slice_kernels.hpp"

namespace tomoloom::gpu {

const SliceKernels& emulated_slice_kernels() {
  throw Error(Status::kUnsupported,
              "emulation of a device: not in this build (-DFIBERLOOM_EMULATION=ON)");
}

}  // namespace tomoloom::gpu
