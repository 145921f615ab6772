// SPDX-License-Identifier: BSD-3-Clause
// Which rank makes which blocks of a scan.
#pragma once

#include <cstddef>
#include <vector>

#include "tomoloom/recipes/scans/team_block.hpp"

namespace tomoloom::scans {

/// What a rank does: blocks that are its own, or one that it shares.
struct Share {
  std::vector<SliceBlock> blocks;
  Team team = {};
  /// Of the ranks that share a block the one that has its slices in the end.
  [[nodiscard]] bool heads(int rank) const { return team.size == 1 || team.first == rank; }
};

/// Parts of the list as long as each other, so that what a rank reads lies together; with `teams`
/// and more ranks than blocks, to each block as many neighbours.
[[nodiscard]] std::vector<Share> share_out(const std::vector<SliceBlock>& blocks, std::size_t ranks,
                                           bool teams);

/// Ranks that may come to share a block, for the memory that it takes: of fewer each takes more.
[[nodiscard]] std::size_t largest_team(const ReconJob& job, std::size_t blocks, std::size_t ranks);

}  // namespace tomoloom::scans
