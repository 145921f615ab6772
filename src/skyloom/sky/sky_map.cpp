// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/sky_map.hpp"

#include <cctype>

namespace skyloom {

bool is_frame(const std::string& coordsys, const std::string& frame) {
  std::string name;
  for (const char letter : coordsys) {
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  if (name == "EQUATORIAL" || name == "CELESTIAL" || name == "Q") return frame == "C";
  return name == frame || (frame == "E" && name == "ECLIPTIC") ||
         (frame == "G" && name == "GALACTIC");
}

void scan_sky(const SkyMap& sky, std::span<const Pixel> pixels, std::span<const double> q,
              std::span<const double> u, std::span<double> signal) {
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const float* const at = sky.values.data() + 3 * static_cast<std::size_t>(pixels[i]);
    signal[i] += double{at[0]} + q[i] * double{at[1]} + u[i] * double{at[2]};
  }
}

}  // namespace skyloom
