// SPDX-License-Identifier: BSD-3-Clause
// Texts in letters of one case: keywords, names of columns, kinds. Letters of ASCII alone.
#pragma once

#include <cctype>
#include <string>

namespace loom {

[[nodiscard]] inline std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}
[[nodiscard]] inline std::string in_small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace loom
