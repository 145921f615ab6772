// SPDX-License-Identifier: BSD-3-Clause
// The sky in tiles: squares of neighbouring pixels, each the work of one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "skyloom/pixels/healpix.hpp"

namespace skyloom {

/// Tiles of 4^k pixels that follow one another in NESTED order.
class TileGrid {
 public:
  explicit TileGrid(const Healpix& sky) noexcept
      : shift_(sky.order() < kMostOrder ? 2 * sky.order() : 2 * kMostOrder),
        tiles_(static_cast<std::size_t>(sky.pixels() >> shift_)) {}
  /// 2^shift pixels a tile, 16 bits at most.
  TileGrid(int shift, std::size_t tiles) noexcept : shift_(shift), tiles_(tiles) {}
  [[nodiscard]] std::size_t tiles() const noexcept { return tiles_; }
  [[nodiscard]] std::size_t pixels() const noexcept { return std::size_t{1} << shift_; }
  [[nodiscard]] std::int32_t tile(Pixel pixel) const noexcept { return pixel >> shift_; }
  [[nodiscard]] std::uint16_t place(Pixel pixel) const noexcept {
    return static_cast<std::uint16_t>(pixel & ((1 << shift_) - 1));
  }
  [[nodiscard]] Pixel pixel(std::size_t tile, std::size_t place) const noexcept {
    return static_cast<Pixel>((tile << shift_) + place);
  }

 private:
  static constexpr int kMostOrder = 4;  // 256 pixels: what a step needs of them stays in the cache
  int shift_;
  std::size_t tiles_;
};

}  // namespace skyloom
