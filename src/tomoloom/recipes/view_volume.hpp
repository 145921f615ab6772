// SPDX-License-Identifier: BSD-3-Clause
// A volume as one self-contained page: three planes through it, a histogram, what was done, and
// beside it another volume with the difference.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "loom/base/log.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

struct ViewJob {
  std::string volume, other;  ///< `other` may be empty
  std::string group = "exchange";
  std::optional<std::size_t> slice = {}, row = {},
                             column = {};  ///< of the planes; none: the middle
};

/// HTML that needs nothing else. Reads the volume once, memory of some slices; planes of more than
/// 640 pixels are averaged down. Throws kSliceRange, kWrongShape, and what reading throws.
[[nodiscard]] std::string view_volume(const ViewJob& job, const Observer& observer = {});

}  // namespace tomoloom
