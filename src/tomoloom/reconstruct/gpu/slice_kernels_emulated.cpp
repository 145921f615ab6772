// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a group of slices on the CPU, thread by thread.
#include "loom/device/emulated_launch.hpp"
#include "tomoloom/reconstruct/gpu/slice_kernels.hpp"

namespace tomoloom::gpu {

const SliceKernels& emulated_slice_kernels() {
  static const SliceKernels table = [] {
    SliceKernels k{};
    fill_kernels<EmulatedRun>(k);
    return k;
  }();
  return table;
}

}  // namespace tomoloom::gpu
