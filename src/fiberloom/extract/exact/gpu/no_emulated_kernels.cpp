// SPDX-License-Identifier: BSD-3-Clause
// Stands in for kernels_emulated.cpp where emulation is not built in.
#include "fiberloom/extract/exact/gpu/kernels.hpp"

namespace fiberloom::exact::gpu {

const DeviceKernels& emulated_kernels() {
  throw Error(Status::kUnsupported,
              "emulation of a device: not in this build (-DFIBERLOOM_EMULATION=ON)");
}

}  // namespace fiberloom::exact::gpu
