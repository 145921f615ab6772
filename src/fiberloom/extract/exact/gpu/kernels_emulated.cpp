// SPDX-License-Identifier: BSD-3-Clause
// The device kernels on the CPU, thread by thread.
#include <algorithm>
#include <iterator>

#include "fiberloom/extract/exact/gpu/kernel_table.hpp"
#include "loom/device/emulated_launch.hpp"
#include "loom/linalg/banded.hpp"

namespace fiberloom::exact::gpu {

namespace {

static_assert(std::equal(kBands.begin(), kBands.end(), std::begin(kDeviceBands),
                         std::end(kDeviceBands)));
static_assert(std::find(kCouplings.begin(), kCouplings.end(), kWidestCoupling) != kCouplings.end());

DeviceKernels make_table() {
  DeviceKernels k{};
  fill_common<EmulatedRun>(k);
  fill_bands<EmulatedRun>(k);
  return k;
}

}  // namespace

const DeviceKernels& emulated_kernels() {
  static const DeviceKernels table = make_table();
  return table;
}

}  // namespace fiberloom::exact::gpu
