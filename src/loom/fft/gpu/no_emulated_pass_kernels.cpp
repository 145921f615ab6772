// SPDX-License-Identifier: BSD-3-Clause
// Stands in for pass_kernels_emulated.cpp where emulation is not built in.
#include "loom/base/error.hpp"
#include "loom/fft/gpu/pass_kernels.hpp"

namespace loom::gpu {

const PassKernels& emulated_pass_kernels() {
  throw Error(Status::kUnsupported,
              "emulation of a device: not in this build (-DFIBERLOOM_EMULATION=ON)");
}

}  // namespace loom::gpu
