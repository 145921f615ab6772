// SPDX-License-Identifier: BSD-3-Clause
// What stands for a template where it does not reach: the spectrum itself, smoothed. Its chi2 has
// the same noise as that of any good model, so templates that reach over different pixels compare.
#pragma once

#include "fiberloom/redshift/target.hpp"

namespace fiberloom::redshift {

/// Fills Block::smooth_gain of all targets: the smooth spectrum is the weighted mean of 101 pixels.
void add_smooth_reference(TargetSet& set);

}  // namespace fiberloom::redshift
