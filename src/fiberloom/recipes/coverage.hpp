// SPDX-License-Identifier: BSD-3-Clause
// What part of a wavelength grid falls on the CCD, for the user's eyes; the engines need no help.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"

namespace fiberloom {

struct Coverage {
  std::size_t bins = 0;         ///< fibres x bins
  std::size_t without_ccd = 0;  ///< of them, those whose spot touches no row of the CCD
  /// First and last wavelength at which every fibre has pixels, Angstrom; first > last: none.
  double first_aa = 0, last_aa = 0;
  bool beyond_psf = false;  ///< the grid leaves the PSF's own wavelength range
};

/// Of fibres [first, first + count) and an increasing grid. Looks at both ends of the grid only, so
/// that a grid within the CCD costs nothing.
[[nodiscard]] Coverage grid_coverage(const PsfModel& psf, int first, int count,
                                     const std::vector<double>& wave);

/// One line that says it; empty where every bin has pixels and the PSF covers the grid.
[[nodiscard]] std::string coverage_text(const Coverage& coverage, const PsfModel& psf,
                                        const std::vector<double>& wave);

}  // namespace fiberloom
