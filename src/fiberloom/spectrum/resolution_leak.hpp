// SPDX-License-Identifier: BSD-3-Clause
// What the stored diagonals of resolution matrices leave out.
#pragma once

#include <cstddef>

#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom {

/// Of rows, or of columns: |1 - sum of what is stored|.
struct LeakStatistics {
  double median = 0, high = 0, most = 0;  ///< high: that of which one in 1000 has more
};

struct LeakReport {
  int ndiag = 0;
  std::size_t bins = 0;  ///< that count
  LeakStatistics rows;   ///< the rows of the whole matrix sum to 1
  /// Columns do not quite: a bin's light is seen with other sums by rows of other noise. What is
  /// missing here is light that no row has, and what that makes.
  LeakStatistics columns;
};

/// The share of rows that may leak more than a bound that was asked for: those beside dead pixels
/// are as wide as the hole.
inline constexpr double kLeakyShare = 1e-3;
/// As many diagonals as are looked at for a bound.
inline constexpr int kMostLeakDiagonals = 49;

/// Of the bins with information as far from the ends of the grid as there are diagonals on a side.
/// `ndiag` (odd): of the middle ones alone; 0: all that are stored.
[[nodiscard]] LeakReport leak_of(const Spectra& spectra, int ndiag = 0);

/// The fewest diagonals (odd, 3 at least) of those stored with which no more than kLeakyShare of
/// the rows leak more than `bound`; all that are stored where no number does.
[[nodiscard]] int diagonals_for(const Spectra& spectra, double bound);

/// Leaves the middle `ndiag` of [spectrum][diagonal][bin].
void keep_diagonals(Array3D<float>& all, int ndiag);

}  // namespace fiberloom
