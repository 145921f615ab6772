// SPDX-License-Identifier: BSD-3-Clause
// HEALPix (Gorski et al. 2005): directions, pixels NESTED and RING, one at a time. The lane version
// for whole streams is pointing/expand.hpp; this is its oracle.
#pragma once

#include <cstdint>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// A pixel, 32 bits: enough to Nside 8192.
using Pixel = std::int32_t;
inline constexpr std::int64_t kMostNside = 8192;

enum class Ordering { kNested, kRing };

/// A unit vector.
struct Direction {
  double x = 0, y = 0, z = 1;
};

/// Where a pixel lies on its base face: column and row, from the southern corner.
struct FacePlace {
  std::int32_t face = 0, x = 0, y = 0;
};

class Healpix {
 public:
  /// Throws kPixelisation where `nside` is no power of two from 1 to kMostNside.
  explicit Healpix(std::int64_t nside);

  [[nodiscard]] std::int64_t nside() const noexcept { return nside_; }
  [[nodiscard]] std::int64_t pixels() const noexcept { return 12 * nside_ * nside_; }
  /// log2(nside)
  [[nodiscard]] int order() const noexcept { return order_; }

  /// The pixel that holds a direction of any length but 0.
  [[nodiscard]] Pixel nested(const Direction& to) const noexcept;
  [[nodiscard]] Pixel ring(const Direction& to) const noexcept { return to_ring(nested(to)); }
  /// The middle of a pixel.
  [[nodiscard]] Direction centre(Pixel nested) const noexcept;
  [[nodiscard]] Pixel to_ring(Pixel nested) const noexcept;
  [[nodiscard]] Pixel to_nested(Pixel ring) const noexcept;

  [[nodiscard]] FacePlace place(Pixel nested) const noexcept;
  [[nodiscard]] Pixel at(const FacePlace& place) const noexcept;

 private:
  std::int64_t nside_;
  int order_ = 0;
};

/// Nside of a map with so many pixels. Throws kPixelisation.
[[nodiscard]] std::int64_t nside_of(std::int64_t pixels);

}  // namespace skyloom
