// SPDX-License-Identifier: BSD-3-Clause
// Paths as they are compared: absolute, without detours. Looks at no file.
#pragma once

#include <filesystem>
#include <string>

namespace loom::batch {

/// std::filesystem::absolute() and lexically_normal(), at once where the path is so already: of a
/// hundred thousand tasks these would take most of the time.
[[nodiscard]] inline std::string normal_path(const std::string& path) {
  const bool is_normal = path.starts_with('/') && path.find("//") == std::string::npos &&
                         path.find("/.") == std::string::npos;
  return is_normal ? path : std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace loom::batch
