// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/sky_map.hpp"

namespace skyloom {

void scan_sky(const SkyMap& sky, std::span<const Pixel> pixels, std::span<const double> q,
              std::span<const double> u, std::span<double> signal) {
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const float* const at = sky.values.data() + 3 * static_cast<std::size_t>(pixels[i]);
    signal[i] += double{at[0]} + q[i] * double{at[1]} + u[i] * double{at[2]};
  }
}

}  // namespace skyloom
