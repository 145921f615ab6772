// SPDX-License-Identifier: BSD-3-Clause
// The device kernels on the CPU, thread by thread.
#include "fiberloom/extract/exact/gpu/kernel_table.hpp"
#include "loom/device/emulated_launch.hpp"
#include "loom/linalg/banded.hpp"

namespace fiberloom::exact::gpu {

namespace {

template <std::size_t N>
constexpr bool same(const std::array<int, N>& a, const int (&b)[kBandCount]) {
  for (std::size_t i = 0; i < kBandCount; ++i) {
    if (a[i] != b[i]) return false;
  }
  return N >= kBandCount;
}
static_assert(same(kBands, kDeviceBands));
static_assert(kDeviceBands[kBandCount - 1] == kWidestBand &&
              kCouplings[kBandCount - 1] == kWidestCoupling);

DeviceKernels make_table() {
  DeviceKernels k{};
  fill_common<EmulatedRun>(k);
  fill_band<EmulatedRun, 0>(k);
  fill_band<EmulatedRun, 1>(k);
  fill_band<EmulatedRun, 2>(k);
  fill_band<EmulatedRun, 3>(k);
  fill_band<EmulatedRun, 4>(k);
  return k;
}

}  // namespace

const DeviceKernels& emulated_kernels() {
  static const DeviceKernels table = make_table();
  return table;
}

}  // namespace fiberloom::exact::gpu
