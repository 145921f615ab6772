// SPDX-License-Identifier: BSD-3-Clause
// What a noise spectrum says of the offsets of baselines: the inverse of their covariance, as a
// filter (Keihanen et al. 2010, with TOAST's correction of equation 24).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skyloom/noise/noise_model.hpp"

namespace skyloom {

/// P_a(f) = 1/T sum over m of P(f + m/T) sinc^2(pi T (f + m/T)), |m| < 5, P the spectrum without
/// its white part (the plateau at the upper fifth of its frequencies), of baselines of T seconds.
/// `frequencies`, Hz, above 0.
[[nodiscard]] std::vector<double> offset_psd(const NoisePsd& model, double step_s,
                                             const std::vector<double>& frequencies);

/// Lags 0, 1, 2 ... of the symmetric filter 1 / P_a for `offsets` baselines that follow one
/// another, cut where no lag is above 1e-4 of the first. Empty where there is one baseline alone,
/// or nothing but white noise: no prior. Throws kNoiseModel where that is no filter of numbers.
[[nodiscard]] std::vector<double> offset_filter(const NoisePsd& model, double rate_hz,
                                                double step_s, std::size_t offsets,
                                                const std::string& name);

}  // namespace skyloom
