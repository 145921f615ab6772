// SPDX-License-Identifier: BSD-3-Clause
// Turns a function of a thread's number into work of an emulated device: what cuda_launch.cuh is
// for CUDA.
#pragma once

#include "loom/device/emulated_device.hpp"

namespace loom {

/// What lies between the members of arguments is nobody's: the rest of an address, where chance
/// has it so.
template <class Args>
void refuse_host_pointers_in(Stream& stream, Args args) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(&args);
#endif
#endif
  refuse_host_pointers(stream, &args, sizeof args);
}

struct EmulatedRun {
  template <class K>
  static void launch(Stream& stream, long threads, const typename K::Args& args) {
    refuse_host_pointers_in(stream, args);
    run_emulated(stream, threads, [args](long thread) { K::run(thread, args); });
  }
  template <class K>
  static void launch_blocks(Stream& stream, long blocks, const typename K::Args& args) {
    refuse_host_pointers_in(stream, args);
    run_emulated_blocks(stream, blocks,
                        {K::kThreads, K::shared_bytes(args), 0, [args] { return K::phases(args); },
                         [args](int phase, long block, int thread, double* shared) {
                           K::run(phase, block, thread, args, shared);
                         }});
  }
  template <class K>
  static void launch_crowd(Stream& stream, long blocks, const typename K::Args& args) {
    launch_blocks<K>(stream, blocks, args);
  }
  template <class K>
  static void launch_states(Stream& stream, long blocks, const typename K::Args& args) {
    refuse_host_pointers_in(stream, args);
    const std::size_t shared_doubles = (K::shared_bytes(args) + 7) / 8;
    run_emulated_blocks(stream, blocks,
                        {K::kThreads, 8 * shared_doubles, K::kThreads * sizeof(typename K::State),
                         [args] { return K::phases(args); },
                         [args, shared_doubles](int phase, long block, int thread, double* shared) {
                           auto* const states =
                               reinterpret_cast<typename K::State*>(shared + shared_doubles);
                           if (phase == 0) states[thread] = {};
                           K::run(phase, block, thread, args, shared, states[thread]);
                         }});
  }
};

}  // namespace loom
