// SPDX-License-Identifier: BSD-3-Clause
// Stands in for prepare_kernels_emulated.cpp where emulation is not built in.
#include "loom/base/error.hpp"
#include "tomoloom/prepare/gpu/prepare_kernels.hpp"

namespace tomoloom::gpu {

const PrepareKernels& emulated_prepare_kernels() {
  throw Error(Status::kUnsupported,
              "emulation of a device: not in this build (-DFIBERLOOM_EMULATION=ON)");
}

}  // namespace tomoloom::gpu
