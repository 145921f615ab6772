// SPDX-License-Identifier: BSD-3-Clause
// Words in a pattern of a name, as {camera}, by what they stand for.
#pragma once

#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <string_view>

namespace loom {

/// `pattern` with each `key` in it, which is not empty, as `value`; what a value brings stays.
[[nodiscard]] inline std::string replaced(std::string pattern, const std::string& key,
                                          const std::string& value) {
  for (auto at = pattern.find(key); at != std::string::npos; at = pattern.find(key, at)) {
    pattern.replace(at, key.size(), value);
    at += value.size();
  }
  return pattern;
}

/// The first word in braces of `pattern` that is none of `known`, as "{camra}"; empty: none. It
/// would stay in the name as it stands.
[[nodiscard]] inline std::string unknown_word(std::string_view pattern,
                                              std::span<const std::string_view> known) {
  for (auto at = pattern.find('{'); at != pattern.npos; at = pattern.find('{', at + 1)) {
    const auto end = pattern.find('}', at);
    if (end == pattern.npos) break;
    const std::string_view word = pattern.substr(at, end + 1 - at);
    const bool letters = std::ranges::all_of(word.substr(1, word.size() - 2),
                                             [](unsigned char c) { return std::isalpha(c) != 0; });
    if (letters && std::ranges::find(known, word) == known.end()) return std::string(word);
  }
  return {};
}

}  // namespace loom
