// SPDX-License-Identifier: BSD-3-Clause
// The device kernels as CUDA kernels; those with a band are compiled beside, a few bands a file.
#include "loom/device/cuda_launch.cuh"
#include "fiberloom/extract/exact/gpu/kernel_table.hpp"

namespace fiberloom::exact::gpu {

void fill_cuda_8(DeviceKernels& k);
void fill_cuda_16(DeviceKernels& k);
void fill_cuda_32(DeviceKernels& k);
void fill_cuda_48(DeviceKernels& k);

namespace {

DeviceKernels make_table() {
  DeviceKernels k{};
  fill_common<CudaRun>(k);
  fill_cuda_8(k);
  fill_cuda_16(k);
  fill_cuda_32(k);
  fill_cuda_48(k);
  return k;
}

}  // namespace

const DeviceKernels& cuda_kernels() {
  static const DeviceKernels table = make_table();
  return table;
}

}  // namespace fiberloom::exact::gpu
