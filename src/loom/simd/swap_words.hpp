// SPDX-License-Identifier: BSD-3-Clause
// Words of the other byte order, many at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace loom {

/// n words of 4 or of 8 bytes with their bytes turned round (the same place is fine).
void swap_words_of_4(const std::uint8_t* in, std::uint8_t* out, std::size_t n) noexcept;
void swap_words_of_8(const std::uint8_t* in, std::uint8_t* out, std::size_t n) noexcept;

}  // namespace loom
