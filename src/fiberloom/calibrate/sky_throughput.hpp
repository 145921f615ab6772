// SPDX-License-Identifier: BSD-3-Clause
// A factor for each fibre on the sky's lines, as desispec takes it from the lines themselves and
// applies it to them alone. Knows no files.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::calibrate {

/// How much of the sky's lines each fibre shows: about each line constant + factor x sky by least
/// squares, factors averaged with an error of 0.005 besides, outliers of 3 sigma left out one by
/// one; 1 where the mean's error is above 0.1. flux, ivar: [nspec][nwave] on the sky's grid, ivar 0
/// where a pixel is not to be used. O(nspec x lines).
[[nodiscard]] std::vector<double> line_throughput(const Array2D<double>& flux,
                                                  const Array2D<double>& ivar, const SkyModel& sky);

/// Bins without a line of the sky within 2 Angstrom; lines below 5700 Angstrom do not count.
[[nodiscard]] std::vector<std::size_t> bins_between_lines(std::span<const double> wave);

/// What the factor adds to one fibre's sky: (factor - 1) x what stands above the straight lines
/// through the bins `between`.
void scale_lines(std::span<const double> wave, std::span<const std::size_t> between, double factor,
                 std::span<double> sky);

}  // namespace fiberloom::calibrate
