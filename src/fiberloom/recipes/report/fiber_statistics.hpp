// SPDX-License-Identifier: BSD-3-Clause
// What can be said of each fibre of a frame, and of its sky fibres together. Arrays in, numbers
// out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fiberloom/recipes/report/statistics.hpp"

namespace fiberloom::report {

/// One spectrum in numbers; NaN where a number is unknown.
struct FiberStatistics {
  std::size_t rejected = 0, bad_fit = 0;  ///< bins, as the flags say
  std::size_t low = 0;                    ///< bins with little information that are not rejected
  double snr = 0, chi2 = 0, flux = 0;     ///< medians over bins with information
  double width = 0;                       ///< median sigma of the resolution, bins
  double light = 0;        ///< light of the sky's lines, relative to the median fibre
  double light_error = 0;  ///< its standard deviation by noise alone
};

/// One row for each row of the frame. `sigma` is that of resolution_sigma(), or empty.
[[nodiscard]] std::vector<FiberStatistics> fiber_statistics(const FrameFile& frame,
                                                            const Array2D<std::uint8_t>& flags,
                                                            const Array2D<float>& sigma);

/// How much line light a fibre has of what the median fibre has: least squares of the spectrum on
/// the median spectrum over its brightest lines, both less their mean over kLineWindow bins. Lines
/// that all fibres see (sky, arc lamps) tell a fibre's throughput whatever its target. NaN where
/// fewer than five fibres, or lines too weak (error above 0.15), cannot tell.
struct LineLight {
  double ratio = 0, error = 0;
};
[[nodiscard]] std::vector<LineLight> line_light(const Spectra& frame,
                                                const Array2D<std::uint8_t>& flags);

/// (flux - scale x mean sky) / its sigma of the fibres in `sky` (rows), over the third of each
/// spectrum with the lowest sigma: the sky must be the same in all of them but for a factor.
/// Empty with fewer than three fibres.
[[nodiscard]] Histogram sky_pulls(const Spectra& frame, const Array2D<std::uint8_t>& flags,
                                  const std::vector<std::size_t>& sky);

/// The flags, with kFlagOther set in all but the third of each spectrum with the lowest sigma.
[[nodiscard]] Array2D<std::uint8_t> flag_bright(const Spectra& frame,
                                                const Array2D<std::uint8_t>& flags);

/// Median over bins of (sigma that photons and read noise alone give) / (sigma that ivar claims),
/// for fluxes in electron/Angstrom: 1 where the noise is what it must be, above 1 where the frame
/// claims to be better than photons allow. `pixels`: those that a bin's light falls on, in effect.
/// NaN where no bin has information.
[[nodiscard]] double noise_ratio(const Spectra& frame, const Array2D<std::uint8_t>& flags,
                                 double read_noise_e, double pixels);

}  // namespace fiberloom::report
