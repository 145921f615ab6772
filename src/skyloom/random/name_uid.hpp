// SPDX-License-Identifier: BSD-3-Clause
// Numbers of names: what TOAST makes of the names of observations, telescopes and detectors, so
// that the streams of a simulation are the same.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// The MD5 sum (RFC 1321): no guard against anybody, a name for a text.
[[nodiscard]] std::array<std::uint8_t, 16> md5(std::string_view text);

/// The lowest 31 bits of the sum, its bytes taken as a little-endian number.
[[nodiscard]] std::uint32_t name_uid(std::string_view name);

}  // namespace skyloom
