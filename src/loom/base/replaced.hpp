// SPDX-License-Identifier: BSD-3-Clause
// Words in a pattern of a name, as {camera}, by what they stand for.
#pragma once

#include <string>

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

}  // namespace loom
