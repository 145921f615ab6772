// SPDX-License-Identifier: BSD-3-Clause
// The CUDA runtime's functions on the CPU: what nvcc made of the host's side (device/cuda_device.cu
// and the launches) is linked with them instead of the runtime, so that it runs, and is watched,
// without a card. Kernels run as the function that they wrap, found by its name. Strict: what a
// card might forgive, or punish late, is refused and noted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fiberloom::standin {

struct Options {
  int cards = 1;
  std::size_t memory_bytes = std::size_t{4} << 30;  ///< of each card
  std::size_t page_locked_bytes = std::size_t{4} << 30;
};

/// Forgets everything. Nobody may use a card meanwhile.
void reset(const Options& options = {});

/// The card fails at its `after`-th call from now on and never comes back: all that touches it
/// fails, as after a fault that ends a CUDA context.
void lose(int card, long after);

/// From its `after`-th call on what the card was told to do does not end, though it takes more: a
/// kernel hangs. What waits for it is noted as misuse.
void hang(int card, long after);

struct Seen {
  std::vector<std::string> misuses;
  std::vector<long> launches;  ///< by card
  long copies = 0, calls = 0;
  long live_memory = 0, live_host_memory = 0, live_streams = 0, live_events = 0;
};
[[nodiscard]] Seen seen();

}  // namespace fiberloom::standin
