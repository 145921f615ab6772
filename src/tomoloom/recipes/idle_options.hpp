// SPDX-License-Identifier: BSD-3-Clause
// Options that were given and change nothing, since what they belong to was not asked for.
#pragma once

#include <string>
#include <vector>

#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom {

/// A sentence for each such option, as in "--phase-energy changes nothing without --phase".
[[nodiscard]] std::vector<std::string> idle_options(const ReconJob& job);

}  // namespace tomoloom
