// SPDX-License-Identifier: BSD-3-Clause
// Medians over fibres, wavelength by wavelength, and values between points: what steps of the
// calibration share. Knows no spectra.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::calibrate {

/// out[i]: the median of value(s, i) over the rows with weight(s, i) > 0; stays as it is where
/// there is none.
void column_medians(const Array2D<double>& value, const Array2D<double>& weight,
                    std::span<double> out, Executor& executor);

/// y at `at` on straight lines between points, the outer values beyond them. x increases, not
/// empty.
[[nodiscard]] double interpolate(std::span<const double> x, std::span<const double> y, double at);

}  // namespace fiberloom::calibrate
