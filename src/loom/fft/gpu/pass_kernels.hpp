// SPDX-License-Identifier: BSD-3-Clause
// The passes of transforms as a table of launchers, one table a body: CUDA or the CPU in its place.
// Seen by .cu.
#pragma once

#include "loom/device/device.hpp"
#include "loom/fft/gpu/pass_device_lane.hpp"

namespace loom::gpu {

/// Radices of a pass.
inline constexpr int kRadixKinds = 6;
inline constexpr int kRadixOfKind[kRadixKinds] = {1, 2, 3, 4, 5, 8};
[[nodiscard]] constexpr int radix_kind(int radix) noexcept {
  int kind = 0;
  while (kind + 1 < kRadixKinds && kRadixOfKind[kind] != radix) ++kind;
  return kind;
}

struct PassKernels {
  using Launch = void (*)(Stream&, long threads, const PassArgs&);
  Launch plus[kRadixKinds], minus[kRadixKinds];
};

template <class Run, int Kind = 0>
void fill_kernels(PassKernels& k) {
  if constexpr (Kind < kRadixKinds) {
    k.plus[Kind] = &Run::template launch<PassKernel<kRadixOfKind[Kind], 1>>;
    k.minus[Kind] = &Run::template launch<PassKernel<kRadixOfKind[Kind], -1>>;
    fill_kernels<Run, Kind + 1>(k);
  }
}

/// Throws kUnsupported where emulation is not built in.
[[nodiscard]] const PassKernels& emulated_pass_kernels();
/// Throws kDevice where CUDA is not compiled in.
[[nodiscard]] const PassKernels& cuda_pass_kernels();

}  // namespace loom::gpu
