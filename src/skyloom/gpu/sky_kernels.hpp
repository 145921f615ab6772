// SPDX-License-Identifier: BSD-3-Clause
// The kernels as a table of launchers, one table a body: CUDA or the CPU in its place. Seen by .cu.
#pragma once

#include "loom/device/device.hpp"
#include "skyloom/gpu/sky_device_lane.hpp"

namespace skyloom::gpu {

inline constexpr std::size_t kStaging = std::size_t{1} << 22;  ///< bytes of page-locked memory
inline constexpr std::size_t kRest =
    4096;  ///< of an arena, whose first piece begins at a multiple of 256

template <class Args>
using Launch = void (*)(loom::Stream&, long threads, const Args&);

struct SkyKernels {
  Launch<ExpandView> expand;
  Launch<CountArgs> count;
  Launch<CompressArgs> compress;
  Launch<ValueArgs> value;
  Launch<AccumulateArgs> accumulate;
  Launch<WeighArgs> weigh;
  Launch<ProjectArgs> project;
  Launch<CollectArgs> collect;
  Launch<CurveArgs> curve;  ///< of blocks
  Launch<MoveArgs> move;    ///< of blocks
  Launch<TurnArgs> turn;
};

template <class Run>
[[nodiscard]] SkyKernels sky_kernels_of() {
  return {.expand = &Run::template launch<ExpandKernel>,
          .count = &Run::template launch<CountKernel>,
          .compress = &Run::template launch<CompressKernel>,
          .value = &Run::template launch<ValueKernel>,
          .accumulate = &Run::template launch<AccumulateKernel>,
          .weigh = &Run::template launch<WeighKernel>,
          .project = &Run::template launch<ProjectKernel>,
          .collect = &Run::template launch<CollectKernel>,
          .curve = &Run::template launch_blocks<CurveKernel>,
          .move = &Run::template launch_blocks<MoveKernel>,
          .turn = &Run::template launch<TurnKernel>};
}

/// Throws kUnsupported where emulation is not built in.
[[nodiscard]] const SkyKernels& emulated_sky_kernels();
/// Throws kDevice where CUDA is not compiled in.
[[nodiscard]] const SkyKernels& cuda_sky_kernels();

/// Of the device's kind.
[[nodiscard]] inline const SkyKernels& sky_kernels(Device& device) {
  return device.info().emulated ? emulated_sky_kernels() : cuda_sky_kernels();
}

}  // namespace skyloom::gpu
