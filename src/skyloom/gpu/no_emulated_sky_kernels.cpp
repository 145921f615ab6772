// SPDX-License-Identifier: BSD-3-Clause
// Stands in for sky_kernels_emulated.cpp where emulation is not built in.
#include "loom/base/error.hpp"
#include "skyloom/gpu/sky_kernels.hpp"

namespace skyloom::gpu {

const SkyKernels& emulated_sky_kernels() {
  throw Error(Status::kUnsupported,
              "emulation of a device: not in this build (-DFIBERLOOM_EMULATION=ON)");
}

}  // namespace skyloom::gpu
