// SPDX-License-Identifier: BSD-3-Clause
// Strips as they are packed -> bytes of their rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "loom/tiff/tiff_directory.hpp"

namespace loom::tiff {

/// Fills `out`. Throws kCorrupt, naming `label`, where the strip does not hold just so much.
void unpack(Packing packing, std::span<const std::uint8_t> packed, std::span<std::uint8_t> out,
            const std::string& label);

/// Sums differences along each row: numbers of 1, 2 or 4 bytes in this machine's order.
void add_differences(std::span<std::uint8_t> rows, std::size_t width, std::size_t number_bytes);

}  // namespace loom::tiff
