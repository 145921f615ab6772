// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a group of slices as a table of launchers, one table a body: CUDA or the CPU in
// its place. Seen by .cu.
#pragma once

#include "loom/device/device.hpp"
#include "tomoloom/reconstruct/gpu/slice_device_lane.hpp"

namespace tomoloom::gpu {

template <class Args>
using Launch = void (*)(Stream&, long threads, const Args&);

/// Radices of a pass.
inline constexpr int kRadixKinds = 6;
inline constexpr int kRadixOfKind[kRadixKinds] = {1, 2, 3, 4, 5, 8};
[[nodiscard]] constexpr int radix_kind(int radix) noexcept {
  int kind = 0;
  while (kind + 1 < kRadixKinds && kRadixOfKind[kind] != radix) ++kind;
  return kind;
}

struct SliceKernels {
  Launch<GatherArgs> gather;
  Launch<PassArgs> pass_plus[kRadixKinds], pass_minus[kRadixKinds];
  Launch<WeighArgs> weigh;
  Launch<SpreadArgs> spread;
  Launch<CropArgs> crop;
  Launch<ScatterArgs> scatter;
};

template <class Run, int Kind = 0>
void fill_kernels(SliceKernels& k) {
  if constexpr (Kind < kRadixKinds) {
    k.pass_plus[Kind] = &Run::template launch<PassKernel<kRadixOfKind[Kind], 1>>;
    k.pass_minus[Kind] = &Run::template launch<PassKernel<kRadixOfKind[Kind], -1>>;
    fill_kernels<Run, Kind + 1>(k);
  } else {
    k.gather = &Run::template launch<GatherKernel>;
    k.weigh = &Run::template launch<WeighKernel>;
    k.spread = &Run::template launch<SpreadKernel>;
    k.crop = &Run::template launch<CropKernel>;
    k.scatter = &Run::template launch<ScatterKernel>;
  }
}

/// Throws kUnsupported where emulation is not built in.
[[nodiscard]] const SliceKernels& emulated_slice_kernels();
/// Throws kDevice where CUDA is not compiled in.
[[nodiscard]] const SliceKernels& cuda_slice_kernels();

}  // namespace tomoloom::gpu
