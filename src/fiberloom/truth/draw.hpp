// SPDX-License-Identifier: BSD-3-Clause
// How a spectrum is drawn from a template. Internal to truth/.
#pragma once

#include <vector>

#include "fiberloom/redshift/template.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::truth {

/// A row of its training coefficients; where it has none the first vector, the others varied by
/// `spread` of its rms. Draws from element 20 of the stream on.
[[nodiscard]] std::vector<double> draw_coefficients(const redshift::Template& t, double spread,
                                                    const loom::CounterRng& rng);

}  // namespace fiberloom::truth
