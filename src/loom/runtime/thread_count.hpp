// SPDX-License-Identifier: BSD-3-Clause
// How many threads this process may use, from what the machine and the batch system grant it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace loom {

/// What was found; nullopt where nothing limits.
struct ThreadLimits {
  std::size_t affinity = 1;               ///< processors in the affinity mask
  std::optional<double> cgroup_quota;     ///< processors' worth of time (cgroup v2 or v1)
  std::optional<std::size_t> slurm_cpus;  ///< SLURM_CPUS_PER_TASK
  std::size_t local_ranks = 1;            ///< MPI ranks that share this machine
};

/// The smallest limit, divided among the ranks on this machine (SLURM_CPUS_PER_TASK is a rank's own
/// and is not divided); at least 1.
[[nodiscard]] std::size_t thread_count(const ThreadLimits& limits) noexcept;

/// What all ranks on this machine may use together: for the one that works while the others do not.
[[nodiscard]] std::size_t thread_count_of_all_ranks(const ThreadLimits& limits) noexcept;

/// Value of an environment variable, or nullopt. A parameter, so that tests need not touch the real
/// one.
using Environment = std::function<std::optional<std::string>(const char*)>;

/// The real environment of this process.
[[nodiscard]] Environment process_environment();

/// Reads the limits; `root` is put before /proc and /sys.
[[nodiscard]] ThreadLimits find_thread_limits(const Environment& environment,
                                              const std::string& root = "");

/// thread_count() of this process.
[[nodiscard]] std::size_t default_thread_count();

}  // namespace loom
