// SPDX-License-Identifier: BSD-3-Clause
// Spectra of the detectors of an observation, beside those that its noise model has, for pages.
#pragma once

#include <string>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/json/json.hpp"
#include "skyloom/tod/stored_tod.hpp"

namespace skyloom {

/// Detectors whose spectra are looked at: of more, as many evenly spaced ones.
inline constexpr std::size_t kViewedDetectors = 64;

/// Square roots of spectra, K sqrt(s), in bands of frequency: of each detector what is measured and
/// what the model has, the median of all of both, and what eight of ten lie between. Throws
/// kNoGoodData where no detector has enough good samples, and what reading throws.
[[nodiscard]] Json noise_spectra_json(const std::string& path, const StoredOptions& options,
                                      Executor& executor, const Observer& observer);

}  // namespace skyloom
