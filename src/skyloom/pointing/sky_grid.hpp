// SPDX-License-Identifier: BSD-3-Clause
// What the pixels of a map are: HEALPix, or a flat grid around a place, as FITS (WCS) has them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "skyloom/pixels/healpix.hpp"
#include "skyloom/pointing/expand_lane.hpp"
#include "skyloom/pointing/sky_place.hpp"

namespace skyloom {

/// CAR: longitude and latitude are straight (plate carree); TAN: as a camera sees it.
enum class Projection { kCar, kTan };

/// Column 0 lies in the east, row 0 in the south. The middle of the grid is `middle`.
struct WcsGrid {
  Projection projection = Projection::kCar;
  SkyPlace middle = {};
  double cell_deg = 0.1;
  std::size_t columns = 0, rows = 0;
};

/// "car:LON,LAT,WIDTH,HEIGHT,CELL" or "tan:...", degrees. Throws kUsage with what was expected:
/// what is no such text, a TAN wider than 120 degrees, a CAR beyond a pole or wider than 360, or
/// more than 2^28 cells.
[[nodiscard]] WcsGrid wcs_grid_of(const std::string& text);

struct GridCell {
  std::size_t column = 0, row = 0;
};

class SkyGrid {
 public:
  SkyGrid(const Healpix& sky) noexcept : sky_(sky) {}  // NOLINT(google-explicit-constructor)
  explicit SkyGrid(const WcsGrid& grid) noexcept;

  [[nodiscard]] const Healpix& healpix() const noexcept { return sky_; }
  /// nullptr: HEALPix.
  [[nodiscard]] const WcsGrid* wcs() const noexcept { return grid_ ? &*grid_ : nullptr; }
  /// Of neighbouring pixels that are a tile: 2^shift with numbers that follow one another.
  [[nodiscard]] int tile_shift() const noexcept;
  [[nodiscard]] std::size_t tiles() const noexcept;
  /// What expanding asks of a flat grid.
  [[nodiscard]] const FlatGrid& flat() const noexcept { return flat_; }
  /// The pixel that holds a direction; -1: it is outside. By the library's functions: the oracle of
  /// expand_lane.hpp.
  [[nodiscard]] Pixel pixel(const Direction& to) const noexcept;
  /// Of a flat grid: the number of a place in it. Tiles are squares of 16 x 16.
  [[nodiscard]] Pixel at(std::size_t column, std::size_t row) const noexcept;
  /// Of a flat grid: the place of a pixel.
  [[nodiscard]] GridCell cell(Pixel pixel) const noexcept;

 private:
  Healpix sky_;
  std::optional<WcsGrid> grid_;
  FlatGrid flat_;
};

}  // namespace skyloom
