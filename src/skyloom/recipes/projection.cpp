// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/projection.hpp"

#include <cmath>

#include "skyloom/pointing/angle.hpp"

namespace skyloom {

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
  const double lon = middle.lon_deg * kDegree, lat = middle.lat_deg * kDegree;
  const Direction to = direction_of(middle);
  const Direction east{-std::sin(lon), std::cos(lon), 0};
  const Direction north{-std::sin(lat) * std::cos(lon), -std::sin(lat) * std::sin(lon),
                        std::cos(lat)};
  const Direction v{to.x - right * east.x + up * north.x, to.y - right * east.y + up * north.y,
                    to.z - right * east.z + up * north.z};
  const double length = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
  return {v.x / length, v.y / length, v.z / length};
}

}  // namespace skyloom
