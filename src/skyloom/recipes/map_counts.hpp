// SPDX-License-Identifier: BSD-3-Clause
// What is counted of samples, pixels and baselines while maps are made.
#pragma once

#include <vector>

#include "skyloom/recipes/solve_maps.hpp"

namespace skyloom {

[[nodiscard]] std::size_t samples_of_detectors(const TodSource& source);
[[nodiscard]] std::size_t most_detectors(const TodSource& source);
void count_streams(const std::vector<Stream>& streams, MapSummary& summary);
/// Of all ranks together.
void count_all(RankCompany* company, MapSummary& s);
/// Throws kNoGoodData where nothing is good: it is told why, not what that makes of pixels.
void check_good(const MapJob& job, RankCompany* company, const MapSummary& s);
void count_system(const AllSums& sums, const OffsetSystem& system, MapSummary& summary);

}  // namespace skyloom
