// SPDX-License-Identifier: BSD-3-Clause
// Sums of spectra of the same target: over exposures of a camera, and across cameras. R of a sum is
// the mean of the rows, so that flux = R s holds as before. Knows no files.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::calibrate {

struct CoaddOptions {
  /// Chance of a chi2 of gradients, as sigma of a Gaussian's tail, beyond which two pixels of the
  /// exposure that is farthest off are left out; 0: none are. Wants three exposures.
  double cosmic_nsig = 4;
};

struct Coadd : Spectra {
  std::vector<std::size_t> exposures;  ///< [target] how many it was made of
  std::size_t cosmics = 0;             ///< pixels left out for them
};

/// Pixels of a target's exposures as a sum takes them.
struct UsedPixels {
  Array2D<double> flux;    ///< [exposure][bin] 0 where it is no number
  Array2D<double> weight;  ///< [exposure][bin] ivar; 0 where a mask bit is set or a cosmic ray was
  std::size_t cosmics = 0;
};
[[nodiscard]] UsedPixels used_pixels(const Spectra& spectra, std::span<const std::size_t> rows,
                                     const CoaddOptions& options);

/// Those of `rows` that are not out of use. Throws kWrongShape for rows that are not there.
[[nodiscard]] std::vector<std::size_t> rows_in_use(const Spectra& spectra,
                                                   std::span<const std::size_t> rows,
                                                   const std::vector<bool>& out_of_use);

/// Spectra of one camera, those of a target at the rows targets[t], whose FIBERSTATUS does not
/// forbid it for `band`: f = sum w f / sum w, w = ivar where no mask bit is set. Where all are
/// masked they are summed all the same, and the masks joined. A target without spectra has ivar 0.
/// No tables. O(rows ndiag nwave). Throws kWrongShape for rows that are not there.
[[nodiscard]] Coadd coadd_exposures(const Spectra& spectra,
                                    std::span<const std::vector<std::size_t>> targets, char band,
                                    const CoaddOptions& options, Executor& executor);

/// Cameras of the same targets on aligned grids (bins within 1e-4 Angstrom of each other where both
/// have them) as one spectrum each: where two see a bin, their weighted mean. What is masked counts
/// where nothing else is known, and stays masked there. Tables of the first. Throws kWrongShape
/// where grids are not aligned or numbers of spectra differ.
[[nodiscard]] Spectra coadd_cameras(std::span<const Spectra> cameras);

/// Pixels of exposures [nexp][nwave] that a cosmic ray has hit, by the chi2 of the differences of
/// neighbouring pixels: 1 for each; ivar 0 where a pixel is not to be used.
[[nodiscard]] Array2D<unsigned char> cosmic_pixels(const std::vector<double>& wave,
                                                   const Array2D<double>& flux,
                                                   const Array2D<double>& ivar, double nsig);

}  // namespace fiberloom::calibrate
