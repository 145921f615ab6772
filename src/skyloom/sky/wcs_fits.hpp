// SPDX-License-Identifier: BSD-3-Clause
// Maps on flat grids as FITS images, whose headers say where they lie (WCS). They are read as other
// maps are (map_file.hpp).
#pragma once

#include <functional>
#include <string>

#include "skyloom/sky/image_place.hpp"
#include "skyloom/sky/map_file.hpp"

namespace skyloom {

/// A plane for each column of `file`; NaN where a value is UNSEEN. Values are asked for by column
/// (from the east) and row (from the south). Throws kOutputExists, kUnwritable, kDiskFull.
void write_image(const std::string& path, Overwrite overwrite, const ImagePlace& place,
                 const MapFile& file,
                 const std::function<void(std::size_t column, std::size_t row, double*)>& values);

}  // namespace skyloom
