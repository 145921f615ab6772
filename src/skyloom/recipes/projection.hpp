// SPDX-License-Identifier: BSD-3-Clause
// The sky on flat paper: which direction a point of a picture shows.
#pragma once

#include <cstddef>
#include <optional>

#include "skyloom/pointing/sky_place.hpp"
#include "skyloom/sky/image_place.hpp"

namespace skyloom {

/// All of the sky in an ellipse twice as wide as high; equal areas. East is to the left, as one
/// looks up. `column`, `row`: of a picture `width` x `width` / 2, row 0 in the north. nullopt: the
/// paper's corner.
[[nodiscard]] std::optional<Direction> mollweide(std::size_t column, std::size_t row,
                                                 std::size_t width, double middle_lon_deg) noexcept;

/// Around a place, as a camera sees it: a picture `side` x `side` that is `size_deg` wide in its
/// middle, north up, east to the left.
[[nodiscard]] Direction gnomonic(std::size_t column, std::size_t row, std::size_t side,
                                 double size_deg, const SkyPlace& middle) noexcept;

/// A point of a flat map: cells from its eastern and its southern edge, 0.5 is the first one's
/// middle.
struct FlatPoint {
  double column = 0, row = 0;
};

/// Where a point of a flat map lies; longitudes from 0 to 360.
[[nodiscard]] SkyPlace sky_place_of(const ImagePlace& image, const FlatPoint& point) noexcept;
[[nodiscard]] SkyPlace middle_of(const ImagePlace& image) noexcept;
/// Where a place lies on a flat map; nullopt: beyond its edges.
[[nodiscard]] std::optional<FlatPoint> flat_point_of(const ImagePlace& image,
                                                     const SkyPlace& place) noexcept;

}  // namespace skyloom
