// SPDX-License-Identifier: BSD-3-Clause
// The dependency tree of a night: which files are made of which.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/recipes/chain/chain.hpp"
#include "fiberloom/recipes/chain/exposure_info.hpp"

namespace fiberloom::chain {

/// What becomes of an exposure of which no image can be read.
enum class Unreadable {
  kField,    ///< a field's
  kNothing,  ///< its extraction alone is tried: what it is will be known when the files are whole
};

/// The tasks of all steps that are wanted; `extractions` are those of the frames that were found,
/// `cache` keeps their headers for the next call.
[[nodiscard]] std::vector<Task> plan_steps(std::vector<Task> extractions, const std::string& output,
                                           night::Compress compress, const ChainRequest& request,
                                           const Observer& observer, Unreadable unreadable,
                                           ExposureCache& cache);

}  // namespace fiberloom::chain
