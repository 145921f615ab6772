// SPDX-License-Identifier: BSD-3-Clause
// How much memory maps take at most, before a sample is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/obs_matrix.hpp"

namespace skyloom {

inline constexpr std::size_t kGroupsAtOnce = 2;  ///< of detectors, of a thread, between sums

/// Samples of a baseline of `step_s` seconds; 0: all of the observation. Throws kUsage.
[[nodiscard]] std::size_t baseline_samples(const Observation& observation, double step_s);

struct MemoryPlan {
  std::uint64_t bytes = 0;  ///< at most, with what the process has already
  std::size_t threads = 1;  ///< that may read at a time
  std::size_t runs = 0;     ///< at most: what the bound stands on
};

/// Samples left out that a plan for --method gls has room for: a quarter of all.
[[nodiscard]] std::size_t planned_gaps(const TodSource& source);

/// As many threads as `job.memory` suffices for. The runs of each observation are those of its
/// first detector, counted from its pointing, and a quarter more. `parts`: of all data, whatever
/// this process has of them. Throws kMemory where one thread is too many.
/// `matrix`: of an observation matrix, of all data.
[[nodiscard]] MemoryPlan plan_memory(const TodSource& source, const MapJob& job, std::size_t parts,
                                     std::size_t threads, const MatrixPlan& matrix = {});

}  // namespace skyloom
