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
#include "skyloom/recipes/obs_matrix.hpp"
#include "skyloom/recipes/rank_company.hpp"

namespace skyloom {

/// Of all data, and of each part.
struct AllSums {
  AllSums(const TileGrid& tiles, std::size_t n) : whole(tiles), parts(n, SkySums(tiles)) {}
  SkySums whole;
  std::vector<SkySums> parts;
};

struct SolvedMaps {
  SolvedMaps(const TileGrid& tiles, std::size_t parts) : sums(tiles, parts) {}
  AllSums sums;
  std::optional<OffsetSystem> system;  ///< refers to the sums: this stays where it is
  Solution solution;                   ///< x: the offsets; empty where none are asked for
  TileMaps gls;                        ///< the map of --method gls; else empty
  std::vector<TileMaps> gls_parts;     ///< then: of each part
  std::vector<std::uint8_t> part_of;   ///< of each baseline, where there are parts
  std::vector<StreamMatrix> matrix;    ///< of each detector, where a matrix is asked for
  MapSummary summary;                  ///< but for writing
};

/// Reads and compresses everything, then solves for the offsets. Throws kUsage, kNoGoodData,
/// kPixelisation, kMemory, and what reading, and a checkpoint that cannot be written, throw.
/// `company`: the ranks that share the data, all of which call this: each has its own detectors,
/// and the sums of the tiles that they hit.
[[nodiscard]] std::unique_ptr<SolvedMaps> solve_maps(const TodSource& source, const MapJob& job,
                                                     Executor& executor,
                                                     const Observer& observer = {},
                                                     RankCompany* company = nullptr);

/// Once the maps are where they should be: iterations need not be gone on with.
void remove_checkpoints(const SolvedMaps& maps, const MapJob& job, RankCompany* company = nullptr);

/// A part's destriped map with the offsets of all data, or its own of maximum likelihood, which is
/// given away.
[[nodiscard]] TileMaps part_map(SolvedMaps& maps, std::size_t part, const MapJob& job,
                                Executor& executor);

}  // namespace skyloom
