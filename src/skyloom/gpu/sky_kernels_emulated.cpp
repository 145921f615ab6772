// SPDX-License-Identifier: BSD-3-Clause
// Pointing and the solver's step on the CPU, thread by thread.
#include "loom/device/emulated_launch.hpp"
#include "skyloom/gpu/sky_kernels.hpp"

namespace skyloom::gpu {

const SkyKernels& emulated_sky_kernels() {
  static const SkyKernels table = sky_kernels_of<EmulatedRun>();
  return table;
}

}  // namespace skyloom::gpu
