// SPDX-License-Identifier: BSD-3-Clause
// F and G stars from a few formulas, and a grid of them: what simulated standard stars are, and the
// models that they are fitted with. Knows no files.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"

namespace fiberloom::truth {

struct StarNode {
  double teff = 6000;  ///< K
  double logg = 4;     ///< of cm/s2
  double metal = -1;   ///< [Fe/H]
};

/// Flux per Angstrom at rest wavelengths (vacuum, Angstrom), 1 at 6500 but for lines: a black body
/// with Balmer lines, deeper in hotter and wider in denser stars, and lines of metals.
[[nodiscard]] std::vector<double> star_spectrum(std::span<const double> wave, const StarNode& node);

/// Models at 5600 to 7000 K by 200, log g 3.5 to 4.5 by 0.5, [Fe/H] -2 to -0.5 by 0.5, from 3300 to
/// 10200 Angstrom by 0.5. Always the same numbers.
[[nodiscard]] StellarGrid star_grid();

}  // namespace fiberloom::truth
