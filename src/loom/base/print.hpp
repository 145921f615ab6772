// SPDX-License-Identifier: BSD-3-Clause
// Numbers into text, as printf writes them.
#pragma once

#include <cstdint>
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

/// "1.25 GB".
[[nodiscard]] inline std::string gigabytes(std::uint64_t bytes) {
  return print("%.3g GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace loom
