// SPDX-License-Identifier: BSD-3-Clause
// Exit codes of skyloom's own, beside the foundation's (loom/base/error.hpp), and what all of them
// mean here.
#pragma once

#include <string_view>

#include "loom/base/error.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

// The numbers are a contract: never renumber.
inline constexpr Status kPixelisation{20};  ///< a map's Nside, ordering or length fits nothing
inline constexpr Status kNoiseModel{21};    ///< a noise model that is not positive, or not complete
inline constexpr Status kNoGoodData{22};    ///< every sample is flagged, or every pixel is cut

/// status_name(), in skyloom's words where it has its own.
[[nodiscard]] inline std::string_view exit_code_name(Status status) noexcept {
  if (status == kPixelisation) return "a map whose pixels do not fit";
  if (status == kNoiseModel) return "noise model not positive or not complete";
  if (status == kNoGoodData) return "no sample or no pixel is good";
  if (status == Status::kMissingHdu) return "missing data set or table";
  if (status == Status::kMissingKeyword) return "missing attribute or keyword";
  return status_name(status);
}

}  // namespace skyloom
