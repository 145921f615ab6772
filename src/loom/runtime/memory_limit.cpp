// SPDX-License-Identifier: BSD-3-Clause
// /proc/meminfo, the memory controllers of both cgroup versions, the limits of the process.
#include "loom/runtime/memory_limit.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "loom/runtime/cgroup.hpp"

namespace loom {
namespace {

constexpr std::uint64_t kUnknown = std::uint64_t{2} << 30;
constexpr std::uint64_t kThreadReserves = 72 << 20;  // stack, and glibc's arena of 64 MiB
constexpr double kNoLimit = 1e17;                    // v1 writes a huge number where there is none

std::optional<double> number_in(const std::string& path) {
  const auto line = first_line(path);
  if (!line || line->empty() || line->front() < '0' || line->front() > '9') return std::nullopt;
  return std::atof(line->c_str());
}

/// Page cache that a control group counts as used; the kernel gives it up before it refuses.
double cached(const std::string& stat_file, const std::string& prefix) {
  std::ifstream file(stat_file);
  double sum = 0;
  for (std::string line; std::getline(file, line);) {
    for (const char* name : {"inactive_file ", "active_file "}) {
      if (line.starts_with(prefix + name)) sum += std::atof(line.c_str() + line.find(' '));
    }
  }
  return sum;
}

/// What one group has left: limit - (used - cached).
std::optional<double> left(const std::string& limit_file, const std::string& used_file,
                           const std::string& stat_file, const std::string& prefix) {
  const auto limit = number_in(limit_file);
  if (!limit || *limit > kNoLimit) return std::nullopt;
  const double used = number_in(used_file).value_or(0);
  return std::max(*limit - std::max(used - cached(stat_file, prefix), 0.0), 0.0);
}

/// A row of /proc/PID/status such as "VmSize:   1234 kB", bytes.
std::optional<double> kib_row(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return 1024 * std::atof(line.c_str() + name.size());
  }
  return std::nullopt;
}

/// The soft limits of /proc/self/limits on address space and data segment less what is used of
/// them; 0: none.
std::uint64_t process_left(const std::string& root) {
  std::ifstream file(root + "/proc/self/limits");
  std::optional<double> smallest;
  for (std::string line; std::getline(file, line);) {
    for (const auto& [limit, row] :
         {std::pair{"Max address space", "VmSize:"}, std::pair{"Max data size", "VmData:"}}) {
      if (!line.starts_with(limit)) continue;
      const auto at = line.find_first_not_of(' ', std::strlen(limit));
      if (at == std::string::npos || line[at] < '0' || line[at] > '9') continue;  // unlimited
      const double used = kib_row(root + "/proc/self/status", row).value_or(0);
      const double rest = std::max(std::atof(line.c_str() + at) - used, 1.0);
      smallest = std::min(rest, smallest.value_or(rest));
    }
  }
  return static_cast<std::uint64_t>(smallest.value_or(0));
}

}  // namespace

std::optional<MemoryGrant> memory_left(const MemoryLimits& limits) noexcept {
  const std::uint64_t ranks = std::max<std::size_t>(limits.local_ranks, 1);
  std::optional<MemoryGrant> least;
  for (const MemoryGrant& grant :
       {MemoryGrant{limits.available / ranks, "free on this machine"},
        MemoryGrant{limits.cgroup / ranks, "left to the control group"},
        MemoryGrant{limits.process, "left by ulimit", kThreadReserves}}) {
    if (grant.bytes > 0 && (!least || grant.bytes < least->bytes)) least = grant;
  }
  return least;
}

std::uint64_t memory_share(const MemoryLimits& limits) noexcept {
  const auto left = memory_left(limits);
  return left ? left->bytes / 3 * 2 : kUnknown;
}

MemoryLimits find_memory_limits(const Environment& environment, const std::string& root) {
  MemoryLimits limits;
  limits.available =
      static_cast<std::uint64_t>(kib_row(root + "/proc/meminfo", "MemAvailable:").value_or(0));
  limits.process = process_left(root);
  const auto cgroup = smallest_cgroup_limit(
      root, "memory",
      [](const std::string& f) {
        return left(f + "/memory.max", f + "/memory.current", f + "/memory.stat", "");
      },
      [](const std::string& f) {
        return left(f + "/memory.limit_in_bytes", f + "/memory.usage_in_bytes", f + "/memory.stat",
                    "total_");
      });
  if (cgroup) limits.cgroup = std::max(static_cast<std::uint64_t>(*cgroup), std::uint64_t{1});
  limits.local_ranks = find_thread_limits(environment, root).local_ranks;
  return limits;
}

}  // namespace loom
