// SPDX-License-Identifier: BSD-3-Clause
// The options of reading observations.
#pragma once

#include <span>

#include "loom/options/option_row.hpp"
#include "skyloom/tod/stored_tod.hpp"

namespace skyloom {

inline constexpr const char* kReadOptions = "Data";

[[nodiscard]] std::span<const OptionRow<StoredOptions>> read_option_rows();

}  // namespace skyloom
