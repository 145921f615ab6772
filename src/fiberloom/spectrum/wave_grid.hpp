// SPDX-License-Identifier: BSD-3-Clause
// Wavelength grids: made from a range and a step, and how wide their bins are.
#pragma once

#include <vector>

namespace fiberloom {

/// numpy.arange(wmin, wmax + dw/2, dw). Throws kUsage when that is no grid.
[[nodiscard]] std::vector<double> linear_wave_grid(double wmin, double wmax, double dw);

/// Width of bin j for flux per Angstrom: numpy.gradient(wave).
[[nodiscard]] std::vector<double> bin_widths(const std::vector<double>& wave);

}  // namespace fiberloom
