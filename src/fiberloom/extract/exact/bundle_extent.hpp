// SPDX-License-Identifier: BSD-3-Clause
// How large the bundles of a frame are on the CCD and in bins, from a few places along the traces:
// what is known before anything is allocated.
#pragma once

#include <cstddef>
#include <vector>

#include "fiberloom/extract/extract.hpp"

namespace fiberloom {

/// A grid without its wavelengths: a million of them need not be made to say how much they cost.
struct GridSize {
  double first_aa = 0, last_aa = 0;
  double step_aa = 0;  ///< the finest
  std::size_t nwave = 0;
};
[[nodiscard]] GridSize grid_size(const std::vector<double>& wave_aa);

struct FiberRange {
  int first = 0, last = 0;
};
[[nodiscard]] FiberRange fibers_asked(const PsfModel& psf, const ExtractOptions& options);
/// The largest of some bundles.
struct BundleExtent {
  double fibers = 0, rows = 0, columns = 0;  ///< of its strip
  double rows_per_bin = 1e9;                 ///< the smallest
  /// Spots of one fibre, and of neighbours, so many bins apart share rows: within one of the truth.
  double band = 0, cross_band = 0;
  double least_band = 0;  ///< both are surely as large
};
[[nodiscard]] BundleExtent extent_of(const PsfModel& psf, const std::vector<BundleRange>& bundles,
                                     const GridSize& grid, double guard);

/// Throws kUnsupported, naming the finest step that is possible, for one at which the spots of more
/// bins share rows than the exact engine's kernels are compiled for.
void require_step(const PsfModel& psf, const ExtractOptions& options, const GridSize& grid);

}  // namespace fiberloom
