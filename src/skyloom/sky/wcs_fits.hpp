// SPDX-License-Identifier: BSD-3-Clause
// Maps on flat grids as FITS images, whose headers say where they lie (WCS).
#pragma once

#include <functional>
#include <string>

#include "skyloom/sky/map_file.hpp"

namespace skyloom {

/// Where an image lies on the sky, in FITS' own words.
struct ImagePlace {
  std::size_t columns = 0, rows = 0;
  std::string projection;           ///< CAR or TAN
  double lon_deg = 0, lat_deg = 0;  ///< of the middle
  double cell_deg = 0;
};

/// A plane for each column of `file`; NaN where a value is UNSEEN. Values are asked for by column
/// (from the east) and row (from the south). Throws kOutputExists, kUnwritable, kDiskFull.
void write_image(const std::string& path, Overwrite overwrite, const ImagePlace& place,
                 const MapFile& file,
                 const std::function<void(std::size_t column, std::size_t row, double*)>& values);

}  // namespace skyloom
