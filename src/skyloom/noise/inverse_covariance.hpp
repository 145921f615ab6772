// SPDX-License-Identifier: BSD-3-Clause
// What a noise spectrum says of samples that follow one another: the inverse of their covariance,
// as a filter.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skyloom/noise/noise_model.hpp"

namespace skyloom {

/// Lags 0 ... reach of the symmetric filter 1 / (P rate), 1/K^2, times Parzen's window, whose
/// transform is nowhere below 0: so is the filter's, and it is 0 beyond. White noise of NET n has
/// the lag 1 / (n^2 rate) alone. Throws kNoiseModel where that is no filter of numbers.
[[nodiscard]] std::vector<double> inverse_covariance(const NoisePsd& model, double rate_hz,
                                                     std::size_t reach, const std::string& name);

}  // namespace skyloom
