// SPDX-License-Identifier: BSD-3-Clause
// Time-ordered data to all that maps are made of: sums over the sky, offsets. Writes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "skyloom/mapping/offset_system.hpp"
#include "skyloom/recipes/map_job.hpp"

namespace skyloom {

/// Of all data, and of each part.
struct AllSums {
  AllSums(const Healpix& sky, std::size_t n) : whole(sky), parts(n, SkySums(sky)) {}
  SkySums whole;
  std::vector<SkySums> parts;
};

/// Maps of hit tiles, in the order of OffsetSystem::hit_tiles(); NaN where a pixel is cut.
using TileMaps = std::vector<std::vector<Stokes>>;

struct SolvedMaps {
  SolvedMaps(const Healpix& sky, std::size_t parts) : sums(sky, parts) {}
  AllSums sums;
  std::optional<OffsetSystem> system;  ///< refers to the sums: this stays where it is
  Solution solution;                   ///< x: the offsets; empty where none are asked for
  std::vector<std::uint8_t> part_of;   ///< of each baseline, where there are parts
  MapSummary summary;                  ///< but for writing

  /// (P^T N^-1 P)^-1 P^T N^-1 (d - M a); no `a`: binned.
  [[nodiscard]] TileMaps tiles(std::span<const double> a, Executor& executor) const;
};

/// Reads and compresses everything, then solves for the offsets. Throws kUsage, kNoGoodData,
/// kPixelisation, kMemory, and what reading throws.
[[nodiscard]] std::unique_ptr<SolvedMaps> solve_maps(const TodSource& source, const MapJob& job,
                                                     Executor& executor,
                                                     const Observer& observer = {});

}  // namespace skyloom
