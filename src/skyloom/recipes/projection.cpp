// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/projection.hpp"

#include <cmath>

#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

/// East, north and ahead at a place.
struct Axes {
  Direction east, north, ahead;
};

Axes axes_at(const SkyPlace& place) noexcept {
  const double lon = place.lon_deg * kDegree, lat = place.lat_deg * kDegree;
  return {.east = {-std::sin(lon), std::cos(lon), 0},
          .north = {-std::sin(lat) * std::cos(lon), -std::sin(lat) * std::sin(lon), std::cos(lat)},
          .ahead = direction_of(place)};
}

}  // namespace

std::optional<Direction> mollweide(std::size_t column, std::size_t row, std::size_t width,
                                   double middle_lon_deg) noexcept {
  const double half = static_cast<double>(width) / 2;
  const double x = (static_cast<double>(column) + 0.5) / half - 1;     // -1 to 1, to the right
  const double y = 1 - (static_cast<double>(row) + 0.5) / (half / 2);  // 1 in the north
  if (x * x + y * y >= 1) return {};
  const double theta = std::asin(y), flat = std::cos(theta);
  const double sine = (2 * theta + std::sin(2 * theta)) / (kTurn / 2);
  const double lon = middle_lon_deg * kDegree - kTurn / 2 * x / flat;
  const double cosine = std::sqrt(std::fmax(0, 1 - sine * sine));
  return Direction{cosine * std::cos(lon), cosine * std::sin(lon), sine};
}

Direction gnomonic(std::size_t column, std::size_t row, std::size_t side, double size_deg,
                   const SkyPlace& middle) noexcept {
  const double half = static_cast<double>(side) / 2, scale = std::tan(size_deg / 2 * kDegree);
  const double right = ((static_cast<double>(column) + 0.5) / half - 1) * scale;
  const double up = (1 - (static_cast<double>(row) + 0.5) / half) * scale;
  const Axes axes = axes_at(middle);
  const Direction& east = axes.east;
  const Direction& north = axes.north;
  const Direction v{axes.ahead.x - right * east.x + up * north.x,
                    axes.ahead.y - right * east.y + up * north.y,
                    axes.ahead.z - right * east.z + up * north.z};
  const double length = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
  return {v.x / length, v.y / length, v.z / length};
}

namespace {

double dot(const Direction& a, const Direction& b) noexcept {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

double turned(double lon_deg) noexcept { return lon_deg - 360 * std::floor(lon_deg / 360); }

}  // namespace

SkyPlace sky_place_of(const ImagePlace& image, const FlatPoint& point) noexcept {
  // FITS: the first cell's middle is 1; the east is to the left
  const double east_deg = (image.column - point.column - 0.5) * image.cell_deg;
  const double north_deg = (point.row + 0.5 - image.row) * image.cell_deg;
  if (image.projection == "CAR") return {turned(image.lon_deg + east_deg), north_deg};
  const Axes axes = axes_at({image.lon_deg, image.lat_deg});
  const double e = east_deg * kDegree, n = north_deg * kDegree;
  return place_of(Direction{axes.ahead.x + e * axes.east.x + n * axes.north.x,
                            axes.ahead.y + e * axes.east.y + n * axes.north.y,
                            axes.ahead.z + e * axes.east.z + n * axes.north.z});
}

SkyPlace middle_of(const ImagePlace& image) noexcept {
  return sky_place_of(
      image, {static_cast<double>(image.columns) / 2, static_cast<double>(image.rows) / 2});
}

std::optional<FlatPoint> flat_point_of(const ImagePlace& image, const SkyPlace& place) noexcept {
  double east_deg = 0, north_deg = place.lat_deg;
  if (image.projection == "CAR") {
    // the turn that is nearest to the map's middle
    const double middle =
        (image.column - static_cast<double>(image.columns) / 2 - 0.5) * image.cell_deg;
    east_deg = place.lon_deg - image.lon_deg;
    east_deg -= 360 * std::floor((east_deg - middle) / 360 + 0.5);
  } else {
    const Axes axes = axes_at({image.lon_deg, image.lat_deg});
    const Direction to = direction_of(place);
    const double ahead = dot(to, axes.ahead);
    if (!(ahead > 0)) return {};
    east_deg = dot(to, axes.east) / ahead / kDegree;
    north_deg = dot(to, axes.north) / ahead / kDegree;
  }
  const FlatPoint out{.column = image.column - 0.5 - east_deg / image.cell_deg,
                      .row = north_deg / image.cell_deg + image.row - 0.5};
  if (!(out.column >= 0 && out.column < static_cast<double>(image.columns) && out.row >= 0 &&
        out.row < static_cast<double>(image.rows))) {
    return {};
  }
  return out;
}

}  // namespace skyloom
