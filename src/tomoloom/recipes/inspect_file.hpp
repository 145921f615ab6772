// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `tomoloom info`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

struct FileReport {
  std::string path, kind;
  std::vector<std::pair<std::string, std::string>> facts;
};

/// What a scan or a volume is. Throws what ScanReader throws.
[[nodiscard]] FileReport inspect_file(const std::string& path, const std::string& group);

}  // namespace tomoloom
