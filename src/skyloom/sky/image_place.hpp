// SPDX-License-Identifier: BSD-3-Clause
// Where a flat map lies on the sky, in FITS' own words. Knows no files.
#pragma once

#include <cstddef>
#include <string>

namespace skyloom {

/// Cells are square, column 0 lies in the east, row 0 in the south.
struct ImagePlace {
  std::size_t columns = 0, rows = 0;
  std::string projection;           ///< CAR or TAN
  double lon_deg = 0, lat_deg = 0;  ///< CRVAL: of the reference; the latitude of CAR's is 0
  double column = 0, row = 0;       ///< CRPIX: where it is; the first cell's middle is 1
  double cell_deg = 0;

  /// A grid around a place.
  [[nodiscard]] static ImagePlace around(const std::string& projection, double lon_deg,
                                         double lat_deg, std::size_t columns, std::size_t rows,
                                         double cell_deg);
  [[nodiscard]] std::size_t cells() const noexcept { return columns * rows; }
};

/// The same cells on the sky, but for rounding.
[[nodiscard]] bool same_cells(const ImagePlace& a, const ImagePlace& b) noexcept;

/// "CAR, 60 x 50 cells of 0.5 degrees", for messages.
[[nodiscard]] std::string text_of(const ImagePlace& place);

}  // namespace skyloom
