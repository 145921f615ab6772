// SPDX-License-Identifier: BSD-3-Clause
// Affinity mask, cgroup quotas of both versions, Slurm and MPI environment.
#include "loom/runtime/thread_count.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "loom/runtime/affinity.hpp"
#include "loom/runtime/cgroup.hpp"

namespace loom {
namespace {

std::optional<std::size_t> parse_count(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value == 0) return std::nullopt;
  return value;
}

/// v2: "max 100000" or "150000 100000".
std::optional<double> quota_v2(const std::string& folder) {
  const auto line = first_line(folder + "/cpu.max");
  if (!line) return std::nullopt;
  std::istringstream in(*line);
  double quota = 0, period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

/// v1: two files; a quota of -1 is none.
std::optional<double> quota_v1(const std::string& folder) {
  const auto quota = first_line(folder + "/cpu.cfs_quota_us");
  const auto period = first_line(folder + "/cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  const double q = std::atof(quota->c_str()), p = std::atof(period->c_str());
  if (q <= 0 || p <= 0) return std::nullopt;
  return q / p;
}

/// SLURM_NTASKS_PER_NODE and the launchers' own counts. A number before "(x2)" is meant.
std::size_t local_ranks(const Environment& environment) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE",
                           "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"}) {
    if (const auto text = environment(name)) {
      if (const auto count = parse_count(*text)) return *count;
    }
  }
  return 1;
}

}  // namespace

std::size_t thread_count(const ThreadLimits& limits) noexcept {
  double shared = static_cast<double>(limits.affinity);
  if (limits.cgroup_quota) shared = std::min(shared, std::ceil(*limits.cgroup_quota));
  // A launcher that binds gives each rank its own mask; then SLURM_CPUS_PER_TASK says as much.
  double own =
      std::floor(shared / static_cast<double>(std::max<std::size_t>(limits.local_ranks, 1)));
  if (limits.slurm_cpus) own = std::min(shared, static_cast<double>(*limits.slurm_cpus));
  return static_cast<std::size_t>(std::max(own, 1.0));
}

ThreadLimits find_thread_limits(const Environment& environment, const std::string& root) {
  ThreadLimits limits;
  limits.affinity = std::max<std::size_t>(affinity_list().size(), 1);
  limits.cgroup_quota = smallest_cgroup_limit(root, "cpu", quota_v2, quota_v1);
  if (const auto text = environment("SLURM_CPUS_PER_TASK")) limits.slurm_cpus = parse_count(*text);
  limits.local_ranks = local_ranks(environment);
  return limits;
}

std::size_t thread_count_of_all_ranks(const ThreadLimits& limits) noexcept {
  ThreadLimits all = limits;
  all.local_ranks = 1;
  if (all.slurm_cpus)
    all.slurm_cpus = *all.slurm_cpus * std::max<std::size_t>(limits.local_ranks, 1);
  return thread_count(all);
}

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

std::size_t default_thread_count() {
  return thread_count(find_thread_limits(process_environment()));
}

}  // namespace loom
