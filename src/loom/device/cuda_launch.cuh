// SPDX-License-Identifier: BSD-3-Clause
// The thin wrapper that turns a function of a thread's number into a CUDA kernel.
#pragma once

#include "loom/device/gpu_runtime.hpp"

#include "loom/device/copy_16.hpp"
#include "loom/device/device.hpp"

namespace loom {

/// Throws Error kDevice with the driver's words, and forgets the failure: the runtime would report
/// it again after the thread's next launch.
void check_cuda(cudaError_t status, const char* what);

/// K::run(thread, args) for every thread of the grid.
template <class K>
__global__ void cuda_kernel(const typename K::Args args, long threads) {
  const long thread = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread < threads) K::run(thread, args);
}

/// K::run(phase, block, thread, args, shared) for every thread of every block, all of a block
/// through one phase before the next.
template <class K>
__global__ void __launch_bounds__(K::kThreads) cuda_block_kernel(const typename K::Args args) {
  extern __shared__ double shared[];
  const int phases = K::phases(args);
  for (int phase = 0; phase < phases; ++phase) {
    K::run(phase, blockIdx.x, static_cast<int>(threadIdx.x), args, shared);
    __syncthreads();
  }
}
/// The same with room for K::kBlocks of them on a multiprocessor: fewer registers than the compiler
/// takes.
template <class K>
__global__ void __launch_bounds__(K::kThreads, K::kBlocks)
    cuda_crowded_kernel(const typename K::Args args) {
  extern __shared__ double shared[];
  const int phases = K::phases(args);
  for (int phase = 0; phase < phases; ++phase) {
    K::run(phase, blockIdx.x, static_cast<int>(threadIdx.x), args, shared);
    __syncthreads();
  }
}

/// The same for a K whose threads keep a State from phase to phase, in registers: phase 0 finds
/// zeros in it. What a phase began to copy by copy_16() is there when the next one begins. K
/// says how many of its blocks a multiprocessor is to have room for.
template <class K>
__global__ void __launch_bounds__(K::kThreads, K::kBlocks)
    cuda_state_kernel(const typename K::Args args) {
  extern __shared__ double shared[];
  typename K::State state{};
  const int phases = K::phases(args);
  for (int phase = 0; phase < phases; ++phase) {
    K::run(phase, blockIdx.x, static_cast<int>(threadIdx.x), args, shared, state);
    wait_for_copies();
    __syncthreads();
  }
}

struct CudaRun {
  template <class K>
  static void launch_blocks(Stream& stream, long blocks, const typename K::Args& args) {
    start<K>(stream, blocks, args, &cuda_block_kernel<K>);
  }
  template <class K>
  static void launch_crowd(Stream& stream, long blocks, const typename K::Args& args) {
    start<K>(stream, blocks, args, &cuda_crowded_kernel<K>);
  }
  template <class K>
  static void launch_states(Stream& stream, long blocks, const typename K::Args& args) {
    start<K>(stream, blocks, args, &cuda_state_kernel<K>);
  }
  template <class K>
  static void launch(Stream& stream, long threads, const typename K::Args& args) {
    if (threads <= 0) return;
    stream.count_launch();
    // small grids in blocks of one warp, so that they spread evenly over all multiprocessors; 128
    // threads of 255 registers are half of what a multiprocessor has
    const int block = threads <= 132L * 256 ? 32 : 128;
    cuda_kernel<K><<<static_cast<unsigned>((threads + block - 1) / block), block, 0,
                     static_cast<cudaStream_t>(stream.native())>>>(args, threads);
    check_cuda(cudaGetLastError(), "launch");
  }

 private:
  /// Lets a block of `kernel` have as many bytes to share.
  static void allow(const void* kernel, int bytes) {
    constexpr int kWithoutAsking = 48 << 10;
    if (bytes <= kWithoutAsking) return;
    // always all that the card has: another thread may launch the kernel with another size
    int card = 0, most = 0;
    check_cuda(cudaGetDevice(&card), "device");
    check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, card),
               "memory of a block");
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
               "memory of a block");
  }
  template <class K>
  static void start(Stream& stream, long blocks, const typename K::Args& args,
                    void (*kernel)(const typename K::Args)) {
    if (blocks <= 0) return;
    stream.count_launch();
    const auto bytes = static_cast<int>(K::shared_bytes(args));
    allow(reinterpret_cast<const void*>(kernel), bytes);
    kernel<<<static_cast<unsigned>(blocks), K::kThreads, bytes,
             static_cast<cudaStream_t>(stream.native())>>>(args);
    check_cuda(cudaGetLastError(), "launch");
  }
};

}  // namespace loom
