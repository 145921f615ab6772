// SPDX-License-Identifier: BSD-3-Clause
// What map-making tells of itself: a line for the console, JSON for who asks.
#pragma once

#include <string>

#include "loom/json/json.hpp"
#include "skyloom/cli/on_ranks.hpp"
#include "skyloom/recipes/make_maps.hpp"

namespace skyloom::cli {

/// What --json is given: program and machine, options of maps, counts, times.
struct RunFacts {
  std::string program;
  std::size_t threads = 1;
  double wall_s = 0;
  RankFacts ranks = {};
};
[[nodiscard]] std::string summary_line(const MapSummary& summary);
/// A warning where samples were no numbers that nobody has flagged.
void tell_of_no_numbers(const MapSummary& summary, const Observer& observer);
[[nodiscard]] Json summary_json(const MapSummary& summary, const MapJob& job,
                                const RunFacts& facts);

}  // namespace skyloom::cli
