// SPDX-License-Identifier: BSD-3-Clause
// Options that were given and change nothing, since what they belong to was not asked for.
#pragma once

#include <string>
#include <vector>

#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom {

/// One of them by its key, the option that it belongs to, and what stands there.
struct IdleOption {
  std::string key, of, state;
  std::string wanted;  ///< what it would take, as on the command line: "--phase"
};
[[nodiscard]] std::vector<IdleOption> find_idle_options(const ReconJob& job);

/// A sentence for each such option, as in "--phase-energy changes nothing without --phase".
[[nodiscard]] std::vector<std::string> idle_options(const ReconJob& job);

}  // namespace tomoloom
