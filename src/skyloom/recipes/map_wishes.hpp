// SPDX-License-Identifier: BSD-3-Clause
// Whether maps can be as they are asked for: options that do not go together, or that ask the data
// for what they do not have.
#pragma once

#include "skyloom/recipes/map_job.hpp"
#include "skyloom/tod/observation.hpp"

namespace skyloom {

/// Throws kUsage; kNoiseModel where a noise model has no spectra for --prior or --method gls.
void check_map_wishes(const TodSource& source, const MapJob& job);

}  // namespace skyloom
