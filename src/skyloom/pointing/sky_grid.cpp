// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/pointing/sky_grid.hpp"

#include <cmath>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/number_text.hpp"
#include "loom/base/split.hpp"

namespace skyloom {
namespace {

constexpr int kSideShift = kCellShift;  // of a tile, as HEALPix's
constexpr std::size_t kSide = std::size_t{1} << kSideShift;
constexpr int kMostOrder = 4;
constexpr double kMostCells = 0x1p28, kMostTanDeg = 120;

std::size_t blocks(std::size_t cells) noexcept { return (cells + kSide - 1) >> kSideShift; }

/// Degrees to the west and to the north of the middle, of the projection; nullopt: it has none.
std::optional<SkyPlace> projected(const WcsGrid& grid, const Direction& v) noexcept {
  const SkyPlace& middle = grid.middle;
  if (grid.projection == Projection::kCar) {
    const SkyPlace at = place_of(v);
    double west = middle.lon_deg - at.lon_deg;
    west -= 360 * std::floor(west / 360 + 0.5);
    return SkyPlace{west, at.lat_deg - middle.lat_deg};
  }
  const double lon = middle.lon_deg * kDegree, lat = middle.lat_deg * kDegree;
  const Direction c = direction_of(middle);
  const double ahead = v.x * c.x + v.y * c.y + v.z * c.z;
  if (!(ahead > 0)) return {};
  const double west = v.x * std::sin(lon) - v.y * std::cos(lon);
  const double north =
      -std::sin(lat) * (v.x * std::cos(lon) + v.y * std::sin(lon)) + v.z * std::cos(lat);
  return SkyPlace{west / ahead / kDegree, north / ahead / kDegree};
}

}  // namespace

WcsGrid wcs_grid_of(const std::string& text) {
  const Error error(Status::kUsage,
                    "car:LON,LAT,WIDTH,HEIGHT,CELL or tan:..., in degrees, within the sky, of 2^28 "
                    "cells at most");
  WcsGrid out;
  const std::string kind = text.substr(0, 4);
  if (kind != "car:" && kind != "tan:") throw error;
  out.projection = kind == "tan:" ? Projection::kTan : Projection::kCar;
  std::vector<double> numbers;
  for (const std::string_view part : loom::parts_of(std::string_view(text).substr(4))) {
    const auto value = number_in(part);
    if (!value) throw error;
    numbers.push_back(*value);
  }
  if (numbers.size() != 5) throw error;
  const double width = numbers[2], height = numbers[3], cell = numbers[4];
  const double columns = std::round(width / cell), rows = std::round(height / cell);
  const double most = out.projection == Projection::kTan ? kMostTanDeg : 360;
  if (!(std::fabs(numbers[0]) <= 720 && std::fabs(numbers[1]) <= 90 && cell > 0 && columns >= 1 &&
        rows >= 1 && width <= most && height <= most && columns * rows <= kMostCells)) {
    throw error;
  }
  if (out.projection == Projection::kCar && std::fabs(numbers[1]) + height / 2 > 90 + 1e-9) {
    throw error;
  }
  out.middle = {numbers[0], numbers[1]};
  out.cell_deg = cell;
  out.columns = static_cast<std::size_t>(columns);
  out.rows = static_cast<std::size_t>(rows);
  return out;
}

SkyGrid::SkyGrid(const WcsGrid& grid) noexcept : sky_(1), grid_(grid) {
  const double lon = grid.middle.lon_deg * kDegree, lat = grid.middle.lat_deg * kDegree;
  const Direction c = direction_of(grid.middle);
  const double turns = grid.middle.lon_deg / 90;
  flat_ = {.columns = static_cast<double>(grid.columns),
           .rows = static_cast<double>(grid.rows),
           .scale = (grid.projection == Projection::kCar ? 90 : 1 / kDegree) / grid.cell_deg,
           .lon = turns - 4 * std::floor(turns / 4),
           .lat = grid.middle.lat_deg / 90,
           .ahead = {c.x, c.y, c.z},
           .west = {std::sin(lon), -std::cos(lon)},
           .north = {-std::sin(lat) * std::cos(lon), -std::sin(lat) * std::sin(lon), std::cos(lat)},
           .across = static_cast<std::int32_t>(blocks(grid.columns))};
}

int SkyGrid::tile_shift() const noexcept {
  if (grid_) return 2 * kSideShift;
  return 2 * (sky_.order() < kMostOrder ? sky_.order() : kMostOrder);
}

std::size_t SkyGrid::tiles() const noexcept {
  if (grid_) return blocks(grid_->columns) * blocks(grid_->rows);
  return static_cast<std::size_t>(sky_.pixels() >> tile_shift());
}

Pixel SkyGrid::at(std::size_t column, std::size_t row) const noexcept {
  const std::size_t tile = (row >> kSideShift) * blocks(grid_->columns) + (column >> kSideShift);
  const std::size_t place = ((row & (kSide - 1)) << kSideShift) + (column & (kSide - 1));
  return static_cast<Pixel>((tile << (2 * kSideShift)) + place);
}

GridCell SkyGrid::cell(Pixel pixel) const noexcept {
  const auto number = static_cast<std::size_t>(pixel);
  const std::size_t tile = number >> (2 * kSideShift), across = blocks(grid_->columns);
  return {.column = (tile % across << kSideShift) + (number & (kSide - 1)),
          .row = (tile / across << kSideShift) + (number >> kSideShift & (kSide - 1))};
}

Pixel SkyGrid::pixel(const Direction& to) const noexcept {
  if (!grid_) return sky_.nested(to);
  const auto apart = projected(*grid_, to);
  if (!apart) return -1;
  const double column =
      std::floor(apart->lon_deg / grid_->cell_deg + static_cast<double>(grid_->columns) / 2);
  const double row =
      std::floor(apart->lat_deg / grid_->cell_deg + static_cast<double>(grid_->rows) / 2);
  if (!(column >= 0 && column < static_cast<double>(grid_->columns) && row >= 0 &&
        row < static_cast<double>(grid_->rows))) {
    return -1;
  }
  return at(static_cast<std::size_t>(column), static_cast<std::size_t>(row));
}

}  // namespace skyloom
