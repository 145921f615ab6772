// SPDX-License-Identifier: BSD-3-Clause
// Who may add to an image at the same time: sums of a pixel then have one order, whatever the
// threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fiberloom {

/// Columns [first, last) that someone adds to; none where first >= last.
struct ColumnRange {
  int first = 0, last = 0;
};

/// Indices of those that have columns, turn by turn: two of one turn share none. Turns follow each
/// other.
inline std::vector<std::vector<std::size_t>> column_turns(const std::vector<ColumnRange>& ranges) {
  std::vector<std::vector<std::size_t>> turns;
  for (std::size_t g = 0; g < ranges.size(); ++g) {
    if (ranges[g].first >= ranges[g].last) continue;
    const auto apart = [&](const std::vector<std::size_t>& turn) {
      return std::all_of(turn.begin(), turn.end(), [&](std::size_t m) {
        return ranges[m].last <= ranges[g].first || ranges[g].last <= ranges[m].first;
      });
    };
    const auto found = std::find_if(turns.begin(), turns.end(), apart);
    if (found != turns.end()) {
      found->push_back(g);
    } else {
      turns.push_back({g});
    }
  }
  return turns;
}

}  // namespace fiberloom
