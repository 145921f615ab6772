// SPDX-License-Identifier: BSD-3-Clause
// Time-ordered data to a maximum-likelihood map, after a first look has told which pixels are hit.
#pragma once

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "skyloom/mapping/gls_system.hpp"
#include "skyloom/recipes/map_job.hpp"

namespace skyloom {

/// The tiles of a grid.
[[nodiscard]] inline TileGrid tiles_of(const SkyGrid& grid) {
  return {grid.tile_shift(), grid.tiles()};
}

/// Flags samples outside a flat grid; their pixel becomes one that there is.
void flag_outside(const SkyGrid& grid, std::span<Pixel> pixels, std::span<std::uint8_t> flags);

/// Throws kUsage where --method gls is asked for with what it does not go with.
void check_gls(const MapJob& job);

struct GlsMap {
  TileMaps map;  ///< of the hit tiles of `pixels`
  Solution solution;
  std::size_t recalled = 0;  ///< iterations that a checkpoint had
  std::size_t bytes = 0;     ///< of the system
  std::size_t gaps = 0;      ///< samples that are unknowns of their own
};

/// Reads everything once more. `gaps`: most samples that may be left out, 0: no bound. Throws
/// kNoiseModel, kMemory, and what reading throws.
[[nodiscard]] GlsMap solve_gls(const TodSource& source, const MapJob& job, const SkySums& sums,
                               const OffsetSystem& pixels, std::size_t gaps, Executor& executor,
                               const Observer& observer = {});

}  // namespace skyloom
