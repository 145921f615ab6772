// SPDX-License-Identifier: BSD-3-Clause
// Turns a function of a thread's number into work of an emulated device: what cuda_launch.cuh is
// for CUDA.
#pragma once

#include "loom/device/emulated_device.hpp"

namespace loom {

struct EmulatedRun {
  template <class K>
  static void launch(Stream& stream, long threads, const typename K::Args& args) {
    refuse_host_pointers(stream, &args, sizeof args);
    run_emulated(stream, threads, [args](long thread) { K::run(thread, args); });
  }
  template <class K>
  static void launch_blocks(Stream& stream, long blocks, const typename K::Args& args) {
    refuse_host_pointers(stream, &args, sizeof args);
    run_emulated_blocks(stream, blocks,
                        {K::kThreads, K::shared_bytes(args), [args] { return K::phases(args); },
                         [args](int phase, long block, int thread, double* shared) {
                           K::run(phase, block, thread, args, shared);
                         }});
  }
};

}  // namespace loom
