// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a group of slices as a table of launchers, one table a body: CUDA or the CPU in
// its place. Seen by .cu.
#pragma once

#include "loom/device/device.hpp"
#include "tomoloom/reconstruct/gpu/slice_device_lane.hpp"

namespace tomoloom::gpu {

struct SliceKernels {
  template <class Args>
  using Launch = void (*)(Stream&, long threads, const Args&);

  Launch<GatherArgs> gather;
  Launch<WeighArgs> weigh;
  Launch<SpreadArgs> spread;
  Launch<CropArgs> crop;
  Launch<ScatterArgs> scatter;
};

template <class Run>
[[nodiscard]] SliceKernels slice_kernels_of() {
  return {&Run::template launch<GatherKernel>, &Run::template launch<WeighKernel>,
          &Run::template launch<SpreadKernel>, &Run::template launch<CropKernel>,
          &Run::template launch<ScatterKernel>};
}

/// Throws kUnsupported where emulation is not built in.
[[nodiscard]] const SliceKernels& emulated_slice_kernels();
/// Throws kDevice where CUDA is not compiled in.
[[nodiscard]] const SliceKernels& cuda_slice_kernels();

}  // namespace tomoloom::gpu
