// SPDX-License-Identifier: BSD-3-Clause
// What single precision has room for.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

/// Whether float32 makes infinity of a finite number.
[[nodiscard]] inline bool is_beyond_float32(double value) noexcept {
  return std::isfinite(value) && !std::isfinite(static_cast<float>(value));
}

/// Whether float32 makes infinity of it, or 0, or something of fewer digits.
[[nodiscard]] inline bool has_no_float32(double value) noexcept {
  return is_beyond_float32(value) ||
         (value != 0 && std::fabs(value) < std::numeric_limits<float>::min());
}

/// Throws kUnsupported where it has no room for what is to be stored of a stream's noise: files of
/// observations have it as float32, as the peer's.
inline void require_float32(double value, const char* what, const std::string& name) {
  if (!has_no_float32(value)) return;
  throw Error(Status::kUnsupported,
              print("noise of %s: %g %s, for which float32, as files of observations have it, has "
                    "no room",
                    name.c_str(), value, what));
}

}  // namespace skyloom
