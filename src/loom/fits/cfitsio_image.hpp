// SPDX-License-Identifier: BSD-3-Clause
// The one door to cfitsio, for the codec that we have not: HCOMPRESS_1.
#pragma once

#include <cstdint>
#include <vector>

#include "loom/fits/hdu.hpp"
#include "loom/fits/tile_layout.hpp"

namespace loom::fits {

/// The integers of all main cells, in the order of the image; 0 where a tile has none. cfitsio sees
/// a header that is written anew from checked values, in memory, and tiles whose own size fields
/// have been checked: it is a codec here and nothing more. Throws kCorrupt.
[[nodiscard]] std::vector<std::int32_t> unpack_hcompress(const TileTable& table, const Hdu& hdu);

}  // namespace loom::fits
