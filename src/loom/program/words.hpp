// SPDX-License-Identifier: BSD-3-Clause
// Words in a row, for messages and help.
#pragma once

#include <string>
#include <vector>

namespace loom {

[[nodiscard]] inline std::string joined(const std::vector<std::string>& words,
                                        const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

}  // namespace loom
