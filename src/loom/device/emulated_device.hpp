// SPDX-License-Identifier: BSD-3-Clause
// The CPU in place of a card: runs every thread of a launch grid as a function call, by one or
// several CPU threads and in an order of its own. Slow; for tests. Worse than a card wherever a
// card may be bad, so that a program's mistakes show: nothing runs before it is waited for, memory
// starts as rubbish, and what only the host may touch is refused.
#pragma once

#include <functional>

#include "loom/device/device.hpp"

namespace loom {

/// In which order the threads of a grid run. A kernel that minds it is wrong.
enum class GridOrder {
  kInward,  ///< from both ends
  kForward,
  kBackward,
  kScattered,  ///< neighbours far apart in time
};

/// When a stream does what it was told to.
enum class StreamTiming {
  kLazy,       ///< not before it is waited for: missing waits show
  kEager,      ///< at once
  kSideFirst,  ///< lazily, but all of its side before it: what a side should have waited for shows
};

struct EmulatedDeviceOptions {
  int threads = 1;
  std::size_t memory_bytes = std::size_t{4} << 30;
  std::size_t shared_bytes = std::size_t{227} << 10;  ///< that a block may have
  GridOrder order = GridOrder::kInward;
  StreamTiming timing = StreamTiming::kLazy;
  /// What fresh device memory is filled with. 0xff: NaNs, and -1 as integers.
  unsigned char rubbish = 0xff;
};

[[nodiscard]] std::unique_ptr<Device> make_emulated_device(
    const EmulatedDeviceOptions& options = {});

/// Calls kernel(0) ... kernel(threads - 1) in the device's order, spread over its CPU threads, when
/// the stream is waited for. `stream` must be an emulated device's.
void run_emulated(Stream& stream, long threads, std::function<void(long)> kernel);

/// A kernel whose threads work in blocks: all of a block finish a phase before any begins the next,
/// and share memory that holds rubbish at first.
struct EmulatedBlocks {
  int threads = 1;
  std::size_t shared_bytes = 0;
  std::size_t state_bytes = 0;  ///< of all threads, behind what they share; no memory of the card's
  std::function<int()> phases;  ///< asked when the kernel runs
  std::function<void(int phase, long block, int thread, double* shared)> run;
};
void run_emulated_blocks(Stream& stream, long blocks, EmulatedBlocks kernel);

/// Throws kInternal when one of the words of a kernel's arguments points to memory of the host.
void refuse_host_pointers(Stream& stream, const void* arguments, std::size_t bytes);

}  // namespace loom
