// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/sample_pointing.hpp"

namespace skyloom {

void flag_outside(const SkyGrid& grid, std::span<Pixel> pixels, std::span<std::uint8_t> flags) {
  if (grid.wcs() == nullptr) return;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (pixels[i] >= 0) continue;
    pixels[i] = 0;
    flags[i] |= 1;
  }
}

}  // namespace skyloom
