// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/sky_sums.hpp"

#include <algorithm>

namespace skyloom {
namespace {

void add_run(const Run& run, const RunProducts& more, double weight, PixelSums& to) {
  const double n = run.n;
  to.hits += static_cast<std::uint32_t>(run.n);
  to.weights.ii += weight * n;
  to.weights.iq += weight * run.q;
  to.weights.iu += weight * run.u;
  to.weights.qq += weight * more.qq;
  to.weights.qu += weight * more.qu;
  to.weights.uu += weight * more.uu;
  to.signal.i += weight * more.d;
  to.signal.q += weight * more.dq;
  to.signal.u += weight * more.du;
}

}  // namespace

std::vector<TileVisit> visits_by_tile(std::span<const Stream> streams) {
  std::vector<TileVisit> visits;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    std::uint32_t run = 0;
    for (std::size_t k = 0; k < streams[s].segments.size(); ++k) {
      const Segment& segment = streams[s].segments[k];
      visits.push_back(
          {segment.tile, static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(k), run});
      run += segment.runs;
    }
  }
  std::stable_sort(visits.begin(), visits.end(),
                   [](const TileVisit& a, const TileVisit& b) { return a.tile < b.tile; });
  return visits;
}

SkySums::SkySums(const TileGrid& tiles) : tiles_(tiles), sums_(tiles_.tiles()) {}

void SkySums::add(std::span<const Stream> streams, Executor& executor, const Taker& takes) {
  std::vector<TileVisit> visits = visits_by_tile(streams);
  if (takes) {
    std::erase_if(visits, [&](const TileVisit& visit) {
      return !takes(visit.stream, streams[visit.stream].segments[visit.segment].baseline);
    });
  }
  std::vector<std::size_t> starts;  // of each tile's visits
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (i == 0 || visits[i].tile != visits[i - 1].tile) {
      starts.push_back(i);
    }
  }
  starts.push_back(visits.size());
  executor.run(starts.size() - 1, [&](std::size_t t) {
    Tile& tile = opened(static_cast<std::size_t>(visits[starts[t]].tile));
    for (std::size_t i = starts[t]; i < starts[t + 1]; ++i) {
      const Stream& stream = streams[visits[i].stream];
      const std::size_t end = visits[i].first_run + stream.segments[visits[i].segment].runs;
      for (std::size_t r = visits[i].first_run; r < end; ++r) {
        add_run(stream.runs[r], stream.products[r], stream.weight,
                pixel_of(tile, stream.runs[r].place));
      }
    }
  });
}

SkySums::Tile& SkySums::opened(std::size_t number) {
  Tile& tile = sums_[number];
  if (tile.numbers.empty()) tile.numbers.assign(tiles_.pixels(), kNotHit);
  return tile;
}

PixelSums& SkySums::pixel_of(Tile& tile, std::uint16_t place) {
  std::uint16_t& number = tile.numbers[place];
  if (number == kNotHit) {
    number = static_cast<std::uint16_t>(tile.pixels.size());
    tile.pixels.push_back({.place = place, .hits = 0, .weights = {}, .signal = {}});
  }
  return tile.pixels[number];
}

void SkySums::clear_tile(std::size_t number) { sums_[number] = {}; }

void SkySums::add_tile(std::size_t number, std::span<const PixelSums> pixels) {
  if (pixels.empty()) return;
  Tile& tile = opened(number);
  for (const PixelSums& from : pixels) {
    PixelSums& to = pixel_of(tile, static_cast<std::uint16_t>(from.place));
    to.hits += from.hits;
    to.weights += from.weights;
    to.signal += from.signal;
  }
}

std::vector<std::int32_t> SkySums::hit_tiles() const {
  std::vector<std::int32_t> out;
  for (std::size_t t = 0; t < sums_.size(); ++t) {
    if (!sums_[t].pixels.empty()) out.push_back(static_cast<std::int32_t>(t));
  }
  return out;
}

std::size_t SkySums::bytes() const noexcept {
  std::size_t sum = 0;
  for (const Tile& tile : sums_) {
    sum += sizeof(Tile) + tile.pixels.capacity() * sizeof(PixelSums) +
           tile.numbers.capacity() * sizeof(std::uint16_t);
  }
  return sum;
}

}  // namespace skyloom
