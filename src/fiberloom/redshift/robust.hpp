// SPDX-License-Identifier: BSD-3-Clause
// Pixels that no light can explain, whatever the model: spikes narrower than the resolution, and
// lines of the sky that its subtraction left. Looked for before any fit, so that no template has a
// say.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/redshift/target.hpp"

namespace fiberloom::redshift {

/// Drops pixels that stand `nsig` sigma above their surroundings and whose neighbours do not share
/// the light as a row of R says the narrowest line would: their mean is less than 0.6 of
/// that by 0.6 nsig sigma. Up to two pixels side by side. Returns how many.
std::size_t drop_hot_pixels(Block& block, double nsig);

/// Adds to the variance of pixels where it stands above what is usual (sky_residual.hpp), which are
/// those on lines of the sky: usual variance x (share x (variance / usual - 1))^2. A
/// share of 0.15 is what 1 % of the sky comes to in half an hour.
void widen_sky_lines(Block& block, std::span<const double> usual, double share);

}  // namespace fiberloom::redshift
