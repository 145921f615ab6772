// SPDX-License-Identifier: BSD-3-Clause
// How much memory this process may use, from what the machine and its control group grant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loom/runtime/thread_count.hpp"

namespace loom {

/// What was found, bytes. 0: not known.
struct MemoryLimits {
  std::uint64_t available = 0;  ///< MemAvailable of the machine
  std::uint64_t cgroup = 0;     ///< what the control group has left, page cache counted as free
  std::uint64_t process = 0;    ///< what `ulimit -v` and `ulimit -d` leave to this process
  std::size_t local_ranks = 1;  ///< MPI ranks that share this machine
};

/// What may be taken, and who says so.
struct MemoryGrant {
  std::uint64_t bytes = 0;
  const char* by = "";           ///< "left by ulimit", for messages
  std::uint64_t per_thread = 0;  ///< taken by every thread where it is address space that counts
};

/// What this process may still take at most: the smallest limit, machine and control group divided
/// among the ranks on this machine; nullopt where nothing is known.
[[nodiscard]] std::optional<MemoryGrant> memory_left(const MemoryLimits& limits) noexcept;

/// Two thirds of memory_left(); 2 GB where nothing is known. The rest is for what is not counted:
/// the program, the page cache, estimates that are off.
[[nodiscard]] std::uint64_t memory_share(const MemoryLimits& limits) noexcept;

/// Reads the limits; `root` is put before /proc and /sys.
[[nodiscard]] MemoryLimits find_memory_limits(const Environment& environment,
                                              const std::string& root = "");

}  // namespace loom
