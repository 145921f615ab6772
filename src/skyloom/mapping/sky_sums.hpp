// SPDX-License-Identifier: BSD-3-Clause
// Sums over samples for every pixel of the tiles that were hit: hits, P^T N^-1 P and P^T N^-1 d.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "skyloom/mapping/runs.hpp"
#include "skyloom/mapping/symmetric3.hpp"

namespace skyloom {

struct PixelSums {
  std::uint32_t place = 0;  ///< of the pixel in its tile
  std::uint32_t hits = 0;
  Symmetric3 weights;  ///< P^T N^-1 P
  Stokes signal;       ///< P^T N^-1 d
};

/// Which segments of which streams lie in a tile, in the order of streams and samples.
struct TileVisit {
  std::int32_t tile = 0;
  std::uint32_t stream = 0;
  std::uint32_t segment = 0;
  std::uint32_t first_run = 0;
};

/// All visits of these streams, by tile, within a tile in the order of streams and samples.
[[nodiscard]] std::vector<TileVisit> visits_by_tile(std::span<const Stream> streams);

using Taker = std::function<bool(std::size_t stream, std::size_t baseline)>;

class SkySums {
 public:
  explicit SkySums(const TileGrid& tiles);
  explicit SkySums(const Healpix& sky) : SkySums(TileGrid(sky)) {}

  [[nodiscard]] const TileGrid& tiles() const noexcept { return tiles_; }
  /// Adds streams. A pixel's sums have the order in which streams are given, whatever the threads
  /// and however they are cut into calls.
  /// `takes`: of stream and baseline, whether they are added; empty: all are.
  void add(std::span<const Stream> streams, Executor& executor, const Taker& takes = {});
  /// The pixels of a tile that were hit, in the order of their first hits.
  [[nodiscard]] std::span<const PixelSums> tile(std::size_t number) const noexcept {
    return sums_[number].pixels;
  }
  /// Where a pixel stands in its tile's list; nullopt where nothing hit it.
  [[nodiscard]] std::optional<std::size_t> find(Pixel pixel) const noexcept {
    return find(static_cast<std::size_t>(tiles_.tile(pixel)), tiles_.place(pixel));
  }
  [[nodiscard]] std::optional<std::size_t> find(std::size_t tile,
                                                std::size_t place) const noexcept {
    const Tile& at = sums_[tile];
    if (at.numbers.empty() || at.numbers[place] == kNotHit) return std::nullopt;
    return at.numbers[place];
  }
  /// Numbers of tiles that were hit, growing.
  [[nodiscard]] std::vector<std::int32_t> hit_tiles() const;
  /// A tile as if nothing had hit it, and sums of its pixels from elsewhere, in their order.
  void clear_tile(std::size_t number);
  void add_tile(std::size_t number, std::span<const PixelSums> pixels);
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Tile;
  /// The tile, ready for pixels.
  [[nodiscard]] Tile& opened(std::size_t number);
  /// Of an opened tile.
  [[nodiscard]] static PixelSums& pixel_of(Tile& tile, std::uint16_t place);
  TileGrid tiles_;
  static constexpr std::uint16_t kNotHit = 0xffff;
  struct Tile {
    std::vector<std::uint16_t> numbers;  ///< of each place
    std::vector<PixelSums> pixels;
  };
  std::vector<Tile> sums_;
};

}  // namespace skyloom
