// SPDX-License-Identifier: BSD-3-Clause
// Fibre flats: how much of a lamp's light each fibre passes, against the median fibre; and spectra
// divided by them (docs/fiberloom/calibration-design.md). Knows no files.
#pragma once

#include <cstddef>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::calibrate {

/// A flat and what is known of how it was found.
struct FiberFlatFit : FiberFlat {
  double chi2_per_dof = 0;      ///< of the smooth flats
  int iterations = 0;           ///< of flats and mean in turn
  std::size_t rejected = 0;     ///< pixels that stood out of the smooth flats
  std::size_t lost_fibers = 0;  ///< without a single good pixel
};

/// Whose median over fibres is 1 at each wavelength. kSmooth: the smooth flats', from which the
/// lamp's spectrum follows. kPixels: that of the flats as they are, as desispec: one fibre's noise
/// then goes into all of them.
enum class MedianOf { kSmooth, kPixels };

struct FiberFlatOptions {
  MedianOf median = MedianOf::kSmooth;
  double clip_nsig = 10;
  double least = 0.1, most = 10;  ///< of the median fibre; pixels beyond are bad
  double spacing_aa = 5;          ///< of the smooth flats' knots
  double accuracy = 5e-4;         ///< largest change of the smooth flats in the last iteration
  int most_iterations = 15;
  std::size_t most_bad = 100;  ///< pixels of a fibre; with as many it is left out of the mean
  std::size_t at_a_time = 5;   ///< pixels of a fibre clipped in one iteration
  double systematic = 0.0035;  ///< error of a flat that its noise does not show
};

/// desispec's rules.
[[nodiscard]] FiberFlatOptions desispec_fiber_flat();

/// chi2 = sum_f sum_i w_fi (D_fi - F_fi (R_f M)_i)^2, F smooth, M deconvolved, in turn; then F =
/// D / (R M) as it is. `band` ('b', 'r', 'z') says which bits of FIBERSTATUS count. Throws
/// kWrongShape without resolution, kNumerical where no fibre has light.
[[nodiscard]] FiberFlatFit compute_fiber_flat(const Spectra& lamp, char band,
                                              const FiberFlatOptions& options, Executor& executor);

/// F / C with 1 / ivar' = 1 / (ivar C^2) + F^2 / (ivar_C C^4); kBadFiberFlat where the flat is bad.
/// `heliocor`: spectra whose wavelengths were multiplied by it look the flat up where the
/// spectrograph had them. Throws kWrongShape where the grids differ.
void apply_fiber_flat(Spectra& spectra, const FiberFlat& flat, double heliocor = 1);

}  // namespace fiberloom::calibrate
