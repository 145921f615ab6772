// SPDX-License-Identifier: BSD-3-Clause
// A list that somebody typed.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace loom {

/// What stands between separators, empty parts too: one more than there are of these. Views of the
/// text.
[[nodiscard]] inline std::vector<std::string_view> parts_of(std::string_view text,
                                                            char separator = ',') {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace loom
