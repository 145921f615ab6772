// SPDX-License-Identifier: BSD-3-Clause
// The lines of a sky, as all fibres see it on average, and how each fibre's differ from its model:
// in wavelength and in width (desispec's --adjust-wavelength and --adjust-lsf). Knows no files.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/calibrate/sky.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::calibrate {

/// The sky's mean over its fibres, and the size of that mean's slope, per Angstrom.
struct MeanSky {
  std::vector<double> level, slope;
};
[[nodiscard]] MeanSky mean_sky(const SkyModel& sky);

/// Bins of local maxima above a tenth of the highest.
[[nodiscard]] std::vector<std::size_t> peaks_of(const std::vector<double>& level);

/// Moves and widens the lines of `sky` (options.adjust_wavelength, options.adjust_lsf) by what the
/// sky fibres show: around each peak constant + factor x S + shift dS/dlambda + width dS/dwidth by
/// least squares; peaks that are well measured joined by straight lines over wavelength, then over
/// fibres. `ivar` [nspec][nwave]: 0 where a pixel is not to be used. O(fibres x peaks + pixels).
[[nodiscard]] SkyAdjustment adjust_lines(const Array2D<double>& flux, const Array2D<double>& ivar,
                                         std::span<const std::size_t> fibers,
                                         const SkyOptions& options, SkyModel& sky,
                                         Executor& executor);

}  // namespace fiberloom::calibrate
