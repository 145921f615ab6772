// SPDX-License-Identifier: BSD-3-Clause
// Exit codes of tomoloom's own, beside the foundation's (loom/base/error.hpp), and what all of them
// mean here.
#pragma once

#include <string_view>

#include "loom/base/error.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

// The numbers are a contract: never renumber.
inline constexpr Status kScanMismatch{20};  ///< flats, darks or angles do not fit the projections
inline constexpr Status kCentreRange{21};   ///< the rotation axis lies outside the projections
inline constexpr Status kSliceRange{22};    ///< slices outside the scan

/// status_name(), in tomoloom's words where it has its own.
[[nodiscard]] inline std::string_view exit_code_name(Status status) noexcept {
  if (status == kScanMismatch) return "flats, darks or angles do not fit the projections";
  if (status == kCentreRange) return "rotation axis outside the projections";
  if (status == kSliceRange) return "slices outside the scan";
  if (status == Status::kMissingHdu) return "missing data set";
  if (status == Status::kMissingKeyword) return "missing attribute";
  return status_name(status);
}

}  // namespace tomoloom
