// SPDX-License-Identifier: BSD-3-Clause
// Spectra as a camera counts them: electrons per bin of a uniform grid. Must not know of the PSF.
#pragma once

#include <vector>

#include "fiberloom/simulate/targets.hpp"

namespace fiberloom {

/// Bins of equal width.
struct BinGrid {
  std::vector<double> wave;  ///< centres, vacuum Angstrom
  double step_aa = 0;
};

/// Efficiency of a camera band relative to its best, 0.4 at the ends of its grid, never below 0.2.
[[nodiscard]] double camera_efficiency(char band, double wave_aa);

/// The dark sky through one fibre in exptime_s (lines go to the nearest two bins, which keeps their
/// centroid). Scaled so that in 900 s the brightest bin of the band's 0.8 Angstrom grid is measured
/// at a signal to noise of 300.
[[nodiscard]] std::vector<double> sky_electrons(char band, const BinGrid& grid, double exptime_s);
/// Those of its continuum.
[[nodiscard]] std::vector<double> sky_continuum_electrons(char band, const BinGrid& grid,
                                                          double exptime_s);

/// The target alone; nothing for a sky fibre. Rest wavelengths are real and in vacuum.
[[nodiscard]] std::vector<double> target_electrons(const Target& target, char band,
                                                   const BinGrid& grid, double exptime_s);

/// Signal to noise of the brightest bin of sky_electrons after the spectrograph's blur: what the
/// scale of the sky aims at. `grid` must be the band's extraction grid or finer.
[[nodiscard]] double brightest_sky_snr(char band, const BinGrid& grid);

}  // namespace fiberloom
