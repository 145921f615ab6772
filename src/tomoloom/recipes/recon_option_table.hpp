// SPDX-License-Identifier: BSD-3-Clause
// The options of `tomoloom recon`.
#pragma once

#include <span>

#include "loom/options/option_row.hpp"
#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom {

/// Headings of help.
inline constexpr const char* kScanOptions = "Which part of the scan";
inline constexpr const char* kPreparationOptions = "Preparation";
inline constexpr const char* kReconstructionOptions = "Reconstruction";

/// All of them but the names of files and what belongs to running, in the order of help.
[[nodiscard]] std::span<const OptionRow<ReconJob>> recon_option_rows();

}  // namespace tomoloom
