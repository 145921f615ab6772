// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/scans/rank_shares.hpp"

#include <algorithm>

namespace tomoloom::scans {

std::vector<Share> share_out(const std::vector<SliceBlock>& blocks, std::size_t ranks, bool teams) {
  std::vector<Share> shares(ranks);
  const std::size_t busy = std::min(ranks, blocks.size());
  for (std::size_t r = 0; r < busy; ++r) {
    if (teams && busy < ranks) {
      const std::size_t first = r * ranks / busy, end = (r + 1) * ranks / busy;
      const Team team{static_cast<int>(first), static_cast<int>(end - first)};
      for (std::size_t m = first; m < end; ++m) shares[m] = {{blocks[r]}, team};
      continue;
    }
    shares[r].blocks.assign(
        blocks.begin() + static_cast<std::ptrdiff_t>(r * blocks.size() / busy),
        blocks.begin() + static_cast<std::ptrdiff_t>((r + 1) * blocks.size() / busy));
  }
  return shares;
}

std::size_t largest_team(const ReconJob& job, std::size_t blocks, std::size_t ranks) {
  // an interrupted run has fewer blocks left than there are
  if (!takes_teams(job) || (ranks <= blocks && !job.resume)) return 1;
  return std::min(ranks, std::max<std::size_t>(2, ranks / blocks));
}

}  // namespace tomoloom::scans
