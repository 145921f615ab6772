// SPDX-License-Identifier: BSD-3-Clause
// One patch of the peers' method, dense: normal equations, prior, solution, decorrelation of each
// fibre ('signal') or of all fibres and bins of the patch ('noise').
#pragma once

#include <cstddef>
#include <vector>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/extract/patch/patch_layout.hpp"

namespace fiberloom::patch {

/// Spots of consecutive fibres over the whole padded grid.
struct SpotTable {
  int first_fiber = 0;
  std::size_t nwave = 0;
  std::vector<Spot> spot;

  [[nodiscard]] const Spot& at(int fiber, std::size_t bin) const {
    return spot[static_cast<std::size_t>(fiber - first_fiber) * nwave + bin];
  }
};

struct SolveSettings {
  double pixpad_frac = 0.8;
  double regularize = 0;
  double psferr = 0.01;
  int ndiag = 11;
  bool decorrelate_fibers = false;
};

enum class PatchStatus {
  kSolved,
  kEmpty,        ///< no good pixel
  kRegularized,  ///< solved after a ridge of 1e-4 was added, as gpu_specter does
  kFailed,       ///< no finite solution: leaves as flux = ivar = 0
};

/// What is kept of a patch: [fibre of first..last][bin of nkeep], fluxes in electrons a bin.
struct PatchResult {
  PatchStatus status = PatchStatus::kEmpty;
  Array2D<double> flux, ivar, xflux, chi2pix, pixmask_fraction;
  Array3D<double>
      resolution;  ///< [fibre][ndiag][bin], as ExtractResult; rows may lie in the padding
};

/// Solves one patch. Pixels: rows from the box of all its spots, cut back towards the box of the
/// unpadded bins by (1 - pixpad_frac), and everything cropped at the CCD.
/// Prior (squared on the diagonal): `regularize`, or minweight - A^T w where that is below
/// minweight = 1e-4 max(A^T w); and 1e-15. A bin whose A^T w is 0 leaves as flux = ivar = 0. Never
/// throws for numerical reasons; ends with kInterrupted where `observer` is asked to stop. About
/// (nfiber nwave)^3 operations, 518 unknowns by default.
[[nodiscard]] PatchResult solve_patch(const CcdFrame& ccd, const SpotTable& spots,
                                      const PatchPlan& plan, std::size_t pad,
                                      const SolveSettings& settings, const Observer& observer);

}  // namespace fiberloom::patch
