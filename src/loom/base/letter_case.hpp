// SPDX-License-Identifier: BSD-3-Clause
// Texts in letters of one case: keywords, names of columns, kinds. Letters of ASCII alone, and
// never those of a locale: Python sets the user's, and in Turkish 'i' has another capital.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace loom {

[[nodiscard]] constexpr char capital(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
[[nodiscard]] constexpr char small_letter(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), capital);
  return text;
}
[[nodiscard]] inline std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), small_letter);
  return text;
}

/// Are they the same but for the case of letters?
[[nodiscard]] constexpr bool same_but_for_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, capital, capital);
}

}  // namespace loom
