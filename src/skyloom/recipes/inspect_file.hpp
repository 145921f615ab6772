// SPDX-License-Identifier: BSD-3-Clause
// What a file is and holds: an observation, a HEALPix map or a flat one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "skyloom/foundation.hpp"

namespace skyloom {

struct FileReport {
  std::string path, kind;
  std::vector<std::pair<std::string, std::string>> facts;
};

/// Throws kNotFound, kCorrupt, kUnsupported and what reading observations and maps throws.
[[nodiscard]] FileReport inspect_file(const std::string& path);

}  // namespace skyloom
