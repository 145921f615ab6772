// SPDX-License-Identifier: BSD-3-Clause
// Time-ordered data to a maximum-likelihood map, after a first look has told which pixels are hit.
#pragma once

#include <optional>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "skyloom/mapping/gls_system.hpp"
#include "skyloom/recipes/map_job.hpp"
#include "skyloom/recipes/rank_company.hpp"

namespace skyloom {

/// Throws kUsage where --method gls is asked for with what it does not go with.
void check_gls(const MapJob& job);

/// What the first look told of.
struct GlsData {
  const TodSource& source;  ///< what this process has of the data
  const MapJob& job;
  const SkySums& sums;  ///< of all data
  const OffsetSystem& pixels;
  const Parts& parts;
  std::size_t gaps = 0;            ///< most samples that may be left out; 0: no bound
  RankCompany* company = nullptr;  ///< then all ranks call solve_gls() together
};

struct GlsMap {
  TileMaps map;  ///< of the hit tiles of `pixels`
  std::vector<double> residuals;
  bool converged = false;
  std::size_t recalled = 0;  ///< iterations that a checkpoint had
  std::size_t bytes = 0;     ///< of the system
  std::size_t gaps = 0;      ///< samples that are unknowns of their own, of all processes
};

/// The file that the iterations of a part are kept in; none: of all data.
[[nodiscard]] std::string gls_checkpoint(const MapJob& job, std::optional<std::size_t> part);

/// Reads everything once more. `part`: only its data, whose sums these are, by themselves. Throws
/// kNoiseModel, kMemory, and what reading throws.
[[nodiscard]] GlsMap solve_gls(const GlsData& data, Executor& executor, const Observer& observer);
[[nodiscard]] GlsMap solve_gls_part(const GlsData& data, std::size_t part, const SkySums& sums,
                                    Executor& executor, const Observer& observer);

}  // namespace skyloom
