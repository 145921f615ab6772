// SPDX-License-Identifier: BSD-3-Clause
// The options of `tomoloom simulate`.
#pragma once

#include <span>

#include "loom/options/option_row.hpp"
#include "tomoloom/recipes/simulate_scan.hpp"

namespace tomoloom {

/// Headings of help.
inline constexpr const char* kBodyOptions = "Scan";
inline constexpr const char* kDetectorOptions = "Detector";

/// All of them but the names of files and what belongs to running, in the order of help.
[[nodiscard]] std::span<const OptionRow<SimulateJob>> simulate_option_rows();

}  // namespace tomoloom
