// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a group of slices on the CPU, thread by thread.
#include "loom/device/emulated_launch.hpp"
#include "tomoloom/reconstruct/gpu/slice_kernels.hpp"

namespace tomoloom::gpu {

const SliceKernels& emulated_slice_kernels() {
  static const SliceKernels table = slice_kernels_of<EmulatedRun>();
  return table;
}

}  // namespace tomoloom::gpu
