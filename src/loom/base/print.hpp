// SPDX-License-Identifier: BSD-3-Clause
// Numbers into text, as printf writes them.
#pragma once

#include <cstdio>
#include <string>

namespace loom {

template <class... Args>
[[nodiscard]] std::string print(const char* format, Args... args) {
  const int size = std::snprintf(nullptr, 0, format, args...);
  std::string text(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  std::snprintf(text.data(), text.size() + 1, format, args...);
  return text;
}

}  // namespace loom
