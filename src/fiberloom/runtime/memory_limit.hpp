// SPDX-License-Identifier: BSD-3-Clause
// How much memory this process may use, from what the machine and its control group grant.
#pragma once

#include <cstdint>
#include <string>

#include "fiberloom/runtime/thread_count.hpp"

namespace fiberloom {

/// What was found, bytes. 0: not known.
struct MemoryLimits {
  std::uint64_t available = 0;  ///< MemAvailable of the machine
  std::uint64_t cgroup = 0;     ///< what the control group has left
  std::size_t local_ranks = 1;  ///< MPI ranks that share this machine
};

/// Two thirds of the smaller limit, divided among the ranks on this machine; 2 GB where nothing is
/// known. The rest is for what is not counted: the program, the page cache, estimates that are off.
[[nodiscard]] std::uint64_t memory_share(const MemoryLimits& limits) noexcept;

/// Reads the limits; `root` is put before /proc and /sys.
[[nodiscard]] MemoryLimits find_memory_limits(const Environment& environment,
                                              const std::string& root = "");

}  // namespace fiberloom
