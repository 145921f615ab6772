// SPDX-License-Identifier: BSD-3-Clause
// The passes of transforms on the CPU, thread by thread.
#include "loom/device/emulated_launch.hpp"
#include "loom/fft/gpu/pass_kernels.hpp"

namespace loom::gpu {

const PassKernels& emulated_pass_kernels() {
  static const PassKernels table = [] {
    PassKernels k{};
    fill_kernels<EmulatedRun>(k);
    return k;
  }();
  return table;
}

}  // namespace loom::gpu
