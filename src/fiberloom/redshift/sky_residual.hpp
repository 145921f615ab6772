// SPDX-License-Identifier: BSD-3-Clause
// What sky subtraction left of the sky's lines: all of them too strong, or all too far to the red.
// No noise of single pixels, so no weights can say it; two numbers a spectrum can.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/redshift/target.hpp"

namespace fiberloom::redshift {

/// The running lower quartile of the variance over 301 pixels: what it is between lines and bands
/// of the sky. 0 where there is no weight near by.
[[nodiscard]] std::vector<double> usual_variance(const Block& block);

/// The lines of the sky as the variance shows them, in units that a small part of them has in flux:
/// [2][pixel], themselves and their slope. Empty where the variance shows next to none.
[[nodiscard]] std::vector<std::vector<double>> sky_shapes(const Block& block,
                                                          std::span<const double> usual);

/// Subtracts from the flux the two multiples of `shapes` that a robust fit finds in what is
/// narrower than 25 pixels. Of a spectrum whose sky was subtracted well that changes chi2 by two.
void subtract_sky_residual(Block& block, std::span<const std::vector<double>> shapes);

}  // namespace fiberloom::redshift
