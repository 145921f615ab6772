// SPDX-License-Identifier: BSD-3-Clause
// Light through the spectrograph: p = A f, the noiseless CCD. Must not know of noise or files.
#pragma once

#include <functional>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom {

/// The CCD [npix_y][npix_x] in electrons that `electrons` [nfiber][nwave] (per bin, fibre
/// first_fiber + row) make: every bin is a spot at its wavelength, cropped at the CCD and not
/// renormalised. Same bytes for every executor: sums run in an order fixed by the PSF alone. Bins
/// of exactly 0 cost nothing. `projected`, from any thread: so many more spectra are on the CCD.
/// Throws kSizeMismatch or kFiberRange.
[[nodiscard]] Array2D<double> project(const PsfModel& psf, const std::vector<double>& wave_aa,
                                      const Array2D<double>& electrons, Executor& executor,
                                      int first_fiber = 0,
                                      const std::function<void(std::size_t)>& projected = {});

/// The uniform grid anchor + k step of every wavelength whose spot touches the CCD in any of the
/// fibres [first_fiber, first_fiber + nfiber), but not beyond the domain of the traces. Bins of
/// `step` tile the same edges as bins of `tile` around `anchor` when tile / step is whole.
[[nodiscard]] std::vector<double> lit_wave_grid(const PsfModel& psf, double anchor_aa,
                                                double tile_aa, double step_aa, int first_fiber = 0,
                                                int nfiber = -1);

}  // namespace fiberloom
