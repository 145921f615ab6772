// SPDX-License-Identifier: BSD-3-Clause
// Where a direction lies on the sphere as one integer, near ones for near directions mostly:
// HEALPix, nested (Gorski et al. 2005, ApJ 622, 759). A cone is then a few ranges of integers, for
// which a database has an index. Knows no database.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fiberloom::catalogue {

/// Nside = 2^kOrder: pixels of 0.2 arcsec, a number below 2^44.
inline constexpr int kOrder = 20;

using Direction = std::array<double, 3>;  ///< a unit vector

/// Degrees; right ascension of any turn.
[[nodiscard]] Direction direction(double ra_deg, double dec_deg) noexcept;

/// The pixel of `order` that holds a direction.
[[nodiscard]] std::int64_t nested_pixel(const Direction& at, int order = kOrder) noexcept;

/// The centre of a pixel.
[[nodiscard]] Direction pixel_centre(std::int64_t pixel, int order) noexcept;

/// Pixels first ... last.
struct PixelRange {
  std::int64_t first = 0, last = 0;
  friend bool operator==(const PixelRange&, const PixelRange&) = default;
};

/// Ranges of pixels of kOrder that hold all directions not farther than `radius` (radian) from
/// `centre`, and some beyond: rising, apart from each other, some tens at most.
[[nodiscard]] std::vector<PixelRange> cone_ranges(const Direction& centre, double radius);

/// Of directions not farther apart than `angle` (radian): |a - b|^2, the square of the chord.
[[nodiscard]] double chord_squared(double angle) noexcept;

}  // namespace fiberloom::catalogue
