// SPDX-License-Identifier: BSD-3-Clause
// /proc/meminfo and the memory controllers of both cgroup versions.
#include "fiberloom/runtime/memory_limit.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "fiberloom/runtime/cgroup.hpp"

namespace fiberloom {
namespace {

constexpr std::uint64_t kUnknown = std::uint64_t{2} << 30;
constexpr double kNoLimit = 1e17;  // v1 writes a huge number where there is none

std::optional<double> number_in(const std::string& path) {
  const auto line = first_line(path);
  if (!line || line->empty() || line->front() < '0' || line->front() > '9') return std::nullopt;
  return std::atof(line->c_str());
}

std::optional<double> left(const std::string& limit_file, const std::string& used_file) {
  const auto limit = number_in(limit_file);
  if (!limit || *limit > kNoLimit) return std::nullopt;
  return std::max(*limit - number_in(used_file).value_or(0), 0.0);
}

std::uint64_t mem_available(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("MemAvailable:")) continue;
    std::istringstream in(line.substr(13));
    std::uint64_t kib = 0;
    if (in >> kib) return kib * 1024;
  }
  return 0;
}

}  // namespace

std::uint64_t memory_share(const MemoryLimits& limits) noexcept {
  std::uint64_t limit = limits.available;
  if (limits.cgroup > 0) limit = limit == 0 ? limits.cgroup : std::min(limit, limits.cgroup);
  if (limit == 0) return kUnknown;
  return limit / 3 * 2 / std::max<std::size_t>(limits.local_ranks, 1);
}

MemoryLimits find_memory_limits(const Environment& environment, const std::string& root) {
  MemoryLimits limits;
  limits.available = mem_available(root);
  const auto cgroup = smallest_cgroup_limit(
      root, "memory",
      [](const std::string& f) { return left(f + "/memory.max", f + "/memory.current"); },
      [](const std::string& f) {
        return left(f + "/memory.limit_in_bytes", f + "/memory.usage_in_bytes");
      });
  if (cgroup) limits.cgroup = std::max(static_cast<std::uint64_t>(*cgroup), std::uint64_t{1});
  limits.local_ranks = find_thread_limits(environment, root).local_ranks;
  return limits;
}

}  // namespace fiberloom
