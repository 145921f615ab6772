// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/sky_map.hpp"

#include "loom/base/letter_case.hpp"

namespace skyloom {

std::optional<char> frame_of(const std::string& coordsys) {
  const std::string name = loom::in_capitals(coordsys);
  if (name == "C" || name == "Q" || name == "EQUATORIAL" || name == "CELESTIAL") return 'C';
  if (name == "E" || name == "ECLIPTIC") return 'E';
  if (name == "G" || name == "GALACTIC") return 'G';
  return std::nullopt;
}

std::optional<std::string> other_frame(const std::string& path, const std::string& frame,
                                       const std::string& scanned) {
  if (frame.empty() || frame_of(frame) == frame_of(scanned)) return std::nullopt;
  return path + ": COORDSYS " + frame + ", and the scan is in " + scanned +
         ": its pixels are taken as if they were in " + scanned;
}

void scan_sky(const SkyMap& sky, std::span<const Pixel> pixels, std::span<const double> q,
              std::span<const double> u, std::span<double> signal) {
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const float* const at = sky.values.data() + 3 * static_cast<std::size_t>(pixels[i]);
    signal[i] += double{at[0]} + q[i] * double{at[1]} + u[i] * double{at[2]};
  }
}

}  // namespace skyloom
