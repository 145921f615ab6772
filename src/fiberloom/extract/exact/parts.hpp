// SPDX-License-Identifier: BSD-3-Clause
// Parts of the axis: where a band is too narrow at a few bins alone, these are left out, and looked
// at once more by themselves. Rules of both engines.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "fiberloom/extract/exact/windows.hpp"

namespace fiberloom::exact {

using BinRanges = std::vector<BinRange>;

/// How often more bins may be left out, until the band does for the rest.
inline constexpr int kMostLeavings = 3;
/// Parts of the axis are done by themselves where that takes fewer rows than this share of all.
inline constexpr double kLargestPart = 0.6;
/// Skirts of parts that are tried, as shares of the guard bins. Couplings fall to 2e-4 over the
/// first, and what they meet there is small; the seam shows what is left (1e-5 sigma as a rule).
inline constexpr double kPartSkirts[] = {0.375, 0.75};
inline constexpr int kPartTries = static_cast<int>(std::size(kPartSkirts));
[[nodiscard]] inline int part_skirt(int attempt, int guard) {
  return static_cast<int>(kPartSkirts[attempt] * guard);
}

[[nodiscard]] inline BinRange bins_left_for(int j, int band, int nbin) {
  return {std::max(j - left_before(band), 0), std::min(j + left_behind(band) + 1, nbin)};
}

/// In order; those that are not more than `gap` bins apart become one.
[[nodiscard]] inline BinRanges merged(BinRanges ranges, int gap) {
  std::sort(ranges.begin(), ranges.end(), [](const BinRange& a, const BinRange& b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  });
  BinRanges out;
  for (const BinRange& range : ranges) {
    if (out.empty() || range.first > out.back().last + gap) {
      out.push_back(range);
    } else {
      out.back().last = std::max(out.back().last, range.last);
    }
  }
  return out;
}

/// The parts that hold all bins that were left out, of any fibre.
[[nodiscard]] inline BinRanges parts_of(const BinRanges& left, int skirt, int nbin) {
  BinRanges wide;
  for (const BinRange& range : left)
    wide.push_back({std::max(range.first - skirt, 0), std::min(range.last + skirt, nbin)});
  return merged(std::move(wide), skirt);
}

/// Whether they take less than the whole once more.
[[nodiscard]] inline bool worth_parts(const BinRanges& parts, int skirt, const Windows& whole) {
  int rows = 0;
  for (const BinRange& part : parts) rows += cut_part(whole.nbin, part, skirt).rows;
  return rows <= kLargestPart * whole.rows;
}

}  // namespace fiberloom::exact
