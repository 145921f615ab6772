// SPDX-License-Identifier: BSD-3-Clause
// Paths in the run folder's JSON. A name may be any bytes, JSON is UTF-8: one that is none stands
// there in hexadecimal.
#pragma once

#include <string>
#include <vector>

#include "loom/json/json.hpp"

namespace loom::batch {

[[nodiscard]] std::string to_hex(const std::string& bytes);
[[nodiscard]] std::string from_hex(const std::string& text);

/// A path as a string, or {"bytes": HEX}.
[[nodiscard]] Json path_json(const std::string& path);
/// Throws JsonError.
[[nodiscard]] std::string path_of(const Json& json);

}  // namespace loom::batch
