// SPDX-License-Identifier: BSD-3-Clause
// A number that somebody typed.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace loom {

/// All of the text as a finite number; nullopt: it is none.
[[nodiscard]] inline std::optional<double> number_in(std::string_view text) noexcept {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || at != end || !std::isfinite(value)) return {};
  return value;
}

}  // namespace loom
