// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/image_place.hpp"

#include <cmath>

#include "loom/base/print.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

ImagePlace ImagePlace::around(const std::string& projection, double lon_deg, double lat_deg,
                              std::size_t columns, std::size_t rows, double cell_deg) {
  const bool flat = projection == "CAR";  // its reference is on the equator
  const double middle_row = (static_cast<double>(rows) + 1) / 2;
  return {.columns = columns,
          .rows = rows,
          .projection = projection,
          .lon_deg = lon_deg,
          .lat_deg = flat ? 0.0 : lat_deg,
          .column = (static_cast<double>(columns) + 1) / 2,
          .row = flat ? middle_row - lat_deg / cell_deg : middle_row,
          .cell_deg = cell_deg};
}

bool same_cells(const ImagePlace& a, const ImagePlace& b) noexcept {
  constexpr double kPartOfCell = 1e-6;  // what headers with few digits differ by
  const double turns = (a.lon_deg - b.lon_deg) / 360, cell = a.cell_deg;
  const auto most = static_cast<double>(a.columns > a.rows ? a.columns : a.rows);
  return a.projection == b.projection && a.columns == b.columns && a.rows == b.rows &&
         std::fabs(turns - std::round(turns)) * 360 < kPartOfCell * cell &&
         std::fabs(a.lat_deg - b.lat_deg) < kPartOfCell * cell &&
         std::fabs(a.column - b.column) < kPartOfCell && std::fabs(a.row - b.row) < kPartOfCell &&
         std::fabs(cell - b.cell_deg) * most < kPartOfCell * cell;
}

std::string text_of(const ImagePlace& place) {
  return print("%s, %zu x %zu cells of %.6g degrees", place.projection.c_str(), place.columns,
               place.rows, place.cell_deg);
}

}  // namespace skyloom
