// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a fast scan as a table of launchers, one table a body: CUDA or the CPU in its
// place. Seen by .cu.
#pragma once

#include "fiberloom/redshift/gpu/scan_device_lane.hpp"
#include "loom/device/device.hpp"

namespace fiberloom::redshift::gpu {

template <class Args>
using Launch = void (*)(Stream&, long threads, const Args&);

/// Numbers of vectors that kernels know as constants, as the CPU's do; the last one is any.
inline constexpr int kBasisKinds = 7;
inline constexpr int kBasisOfKind[kBasisKinds] = {1, 3, 4, 5, 7, 10, 0};
[[nodiscard]] constexpr int basis_kind(int nb) noexcept {
  for (int k = 0; k + 1 < kBasisKinds; ++k) {
    if (kBasisOfKind[k] == nb) return k;
  }
  return kBasisKinds - 1;
}

struct ScanDeviceKernels {
  Launch<ProductArgs> product[kBasisKinds];
  Launch<GatherArgs> sum;  ///< of blocks
  Launch<SolveArgs> solve[kBasisKinds];
};

template <class Run, int Kind = 0>
void fill_kernels(ScanDeviceKernels& k) {
  if constexpr (Kind < kBasisKinds) {
    k.product[Kind] = &Run::template launch<ScanProductKernel<kBasisOfKind[Kind]>>;
    k.solve[Kind] = &Run::template launch<ScanSolveKernel<kBasisOfKind[Kind]>>;
    fill_kernels<Run, Kind + 1>(k);
  } else {
    k.sum = &Run::template launch_states<ScanSumKernel>;
  }
}

/// Throws kUnsupported where emulation is not built in.
[[nodiscard]] const ScanDeviceKernels& emulated_scan_kernels();
/// Throws kDevice where CUDA is not compiled in.
[[nodiscard]] const ScanDeviceKernels& cuda_scan_kernels();

}  // namespace fiberloom::redshift::gpu
