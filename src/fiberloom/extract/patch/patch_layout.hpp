// SPDX-License-Identifier: BSD-3-Clause
// How the peers' method cuts a bundle: sub-bundles of fibres times steps of wavelength, each
// padded. Index arithmetic only; knows nothing of pixels.
#pragma once

#include <cstddef>
#include <vector>

#include "fiberloom/extract/extract.hpp"

namespace fiberloom::patch {

/// The requested grid with the padding bins of the outermost patches before and after it.
struct PaddedGrid {
  std::vector<double> wave;  ///< Angstrom
  std::size_t pad = 0;       ///< padding bins at either end of a patch = bins before the grid
  std::size_t nwave = 0;     ///< bins of the requested grid
};

/// pad = wavepad + int(wavepad wavepad_frac); after the grid come pad + nwavestep bins more,
/// because every patch is full size and the last one may reach beyond the grid.
[[nodiscard]] PaddedGrid padded_grid(const ExtractOptions& options);

/// Fibres [pad_first, pad_last) are solved for, [first, last) are kept; fibres count from 0 in the
/// PSF. Bins [begin - pad, begin + nwave + pad) of the padded grid are solved for; nkeep from begin
/// are kept.
struct PatchPlan {
  int first = 0, last = 0, pad_first = 0, pad_last = 0;
  std::size_t begin = 0, nwave = 0, nkeep = 0;
};

/// The patches of one bundle that hold any fibre of [first_wanted, last_wanted), in fixed order.
/// The division depends on the bundle alone. A bundle that nsubbundles does not divide ends in a
/// smaller sub-bundle.
[[nodiscard]] std::vector<PatchPlan> plan_bundle(const BundleRange& bundle, const PaddedGrid& grid,
                                                 const PatchOptions& options, int first_wanted,
                                                 int last_wanted);

}  // namespace fiberloom::patch
