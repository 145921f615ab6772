// SPDX-License-Identifier: BSD-3-Clause
// How far the lines of a sky model are to be believed: what its residuals on sky fibres ask for
// beyond the noise. Internal to calibrate/.
#pragma once

#include <cstddef>
#include <span>

#include "fiberloom/calibrate/sky.hpp"

namespace fiberloom::calibrate {

/// Adds to the variance of `sky` around each peak above a tenth of the highest (share S)^2 +
/// (shift dS/dlambda)^2, shift the smallest of 0.005 ... 1.995 Angstrom with which the median chi2
/// of `fibers` is what noise alone gives, else 2.
void add_line_variance(const Spectra& spectra, std::span<const std::size_t> fibers,
                       const SkyOptions& options, SkyModel& sky);

}  // namespace fiberloom::calibrate
