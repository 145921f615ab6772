// SPDX-License-Identifier: BSD-3-Clause
// The kernels of preparation on the CPU, thread by thread.
#include "loom/device/emulated_launch.hpp"
#include "tomoloom/prepare/gpu/prepare_kernels.hpp"

namespace tomoloom::gpu {

const PrepareKernels& emulated_prepare_kernels() {
  static const PrepareKernels table = prepare_kernels_of<EmulatedRun>();
  return table;
}

}  // namespace tomoloom::gpu
