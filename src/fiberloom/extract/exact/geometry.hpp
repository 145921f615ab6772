// SPDX-License-Identifier: BSD-3-Clause
// Where the spots of a bundle fall: which pixels, which bins meet which. Integers only, no pixel
// values.
#pragma once

#include <vector>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/psf/spot_plan.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::exact {

/// Requested grid with guard bins at both ends: bins [guard, guard + nwave) are the requested ones.
struct GuardedGrid {
  std::vector<double> wave;
  int guard = 0;
  double step_aa = 1;  ///< the finest
  double decay = 0;  ///< factor by which the inverse of the normal equations falls from bin to bin
};

/// The skirt of a step, and the rate that it comes from.
struct Skirt {
  int bins = 0;
  double decay = 0;
};

/// The skirt: the smallest number of bins over which the inverse of the normal equations decays
/// below 1e-10, found from noise-free spots of this PSF at this step (so a sub-range of the grid
/// has the same), rounded up to a multiple of kLanes.
[[nodiscard]] Skirt skirt_of(const PsfModel& psf, double step_aa);
/// `finest_aa`: the finest step, of all fibres where each has a grid of its own.
[[nodiscard]] GuardedGrid guard_grid(const PsfModel& psf, const std::vector<double>& wave_aa,
                                     double finest_aa);
[[nodiscard]] GuardedGrid guard_grid(const PsfModel& psf, const std::vector<double>& wave_aa);
/// A grid with so many more bins at both ends, in its first and last step (1 Angstrom where it has
/// one bin).
[[nodiscard]] std::vector<double> with_guards(const std::vector<double>& wave_aa, int guard);

struct BundleGeometry {
  int first_fiber = 0, nfiber = 0;
  int nbin = 0, nbin_padded = 0;  ///< with guards
  std::vector<FiberTrace> trace;  ///< [nfiber]
  int x0 = 0, y0 = 0;             ///< CCD pixel of the strip's corner
  int rows = 0, columns = 0;      ///< of the strip; whole packs may be read from any stamp
  int band = 0;                   ///< spots of one fibre more than this apart share no row
  int reach = 1;                  ///< fibres up to this far share pixels that matter in N
  int sweep_reach = 1;            ///< and in the marginal precision: 1 or 2
  int cross_band = 0;             ///< the same for spots of different fibres
};

/// Spots of bins so far apart may share rows, of one fibre and of neighbours: what the kernels are
/// compiled for.
inline constexpr int kMostOwnBins = 63, kMostCrossBins = 32;
/// The error where they do further apart, with the finest step that is possible.
[[nodiscard]] Error too_fine(double band, double cross_band, double step_aa);
/// Throws that error.
void require_bands(const BundleGeometry& geometry, double step_aa);

struct BinRange {
  int first, last;
};
/// The bins whose light makes the model image and chi2: guard bins count as far as they share rows
/// with requested ones.
[[nodiscard]] BinRange model_bins(const BundleGeometry& geometry, int guard);

/// Computes it for fibres [first, last). `coupling_floor`: neighbours at distance >= 2 whose
/// unweighted coupling stays below this fraction of the diagonal are left out of N. In the marginal
/// precision they count only together with a way back, so there the product of both is compared.
/// Throws kUnsupported when even third neighbours matter there.
[[nodiscard]] BundleGeometry bundle_geometry(const SpotPlan& plan, BundleRange bundle,
                                             SpotKernel spots, double coupling_floor);

}  // namespace fiberloom::exact
