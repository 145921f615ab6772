// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a picture as a page keeps them: 16 bits each, as base64.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace loom::page {

/// Level k stands for low + k step; kNoLevel for what is no number.
struct Levels {
  double low = 0, step = 0;
  std::string base64;  ///< two bytes a number, the lower one first
};
inline constexpr unsigned kNoLevel = 65535;

/// Of `count` numbers, from the least to the greatest of those that are finite.
[[nodiscard]] Levels levels_of(std::size_t count, const std::function<double(std::size_t)>& value);

}  // namespace loom::page
