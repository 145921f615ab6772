// SPDX-License-Identifier: BSD-3-Clause
// A detector's pointing on the grid of the maps, some samples at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skyloom/mapping/tiles.hpp"
#include "skyloom/pointing/expand.hpp"
#include "skyloom/tod/detector_group.hpp"

namespace skyloom {

/// The tiles of a grid.
[[nodiscard]] inline TileGrid tiles_of(const SkyGrid& grid) {
  return {grid.tile_shift(), grid.tiles()};
}

/// Flags samples outside a flat grid; their pixel becomes one that there is.
void flag_outside(const SkyGrid& grid, std::span<Pixel> pixels, std::span<std::uint8_t> flags);

/// Room for the pointing of the samples at hand, one for each task.
class SamplePointing {
 public:
  /// Calls use(first, pointing) for samples [first, first + pointing.pixels.size()) of [begin,
  /// end), in their order.
  template <class Use>
  void over(const Boresight& boresight, const Detector& detector, const SkyGrid& grid,
            std::size_t begin, std::size_t end, const Use& use) {
    for (std::size_t first = begin; first < end; first += kAtHand) {
      const std::size_t n = std::min(kAtHand, end - first);
      const Pointing pointing{{pixels_.data(), n}, {q_.data(), n}, {u_.data(), n}};
      expand_pointing(boresight, first, detector, grid, pointing);
      use(first, pointing);
    }
  }

 private:
  static constexpr std::size_t kAtHand = 4096;
  std::vector<Pixel> pixels_ = std::vector<Pixel>(kAtHand);
  std::vector<double> q_ = std::vector<double>(kAtHand), u_ = std::vector<double>(kAtHand);
};

/// What a task needs for a group of detectors.
struct PointedGroup : DetectorGroup {
  SamplePointing pointing;
};

}  // namespace skyloom
