// SPDX-License-Identifier: BSD-3-Clause
// A sky of I, Q, U in memory, and what a detector sees of it. Knows no files.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "skyloom/pixels/healpix.hpp"

namespace skyloom {

/// What HEALPix files hold where nothing was seen.
inline constexpr double kUnseen = -1.6375e30;

struct SkyMap {
  Healpix pixels{1};
  /// [pixel, NESTED][I, Q, U]
  std::vector<float> values;
  std::size_t unseen = 0;   ///< pixels without a value of I, Q or U, 0 here
  std::string frame = {};   ///< COORDSYS of what it was read from; empty: not said
  std::string beside = {};  ///< of a map of I alone the names of the file's other columns
};

/// What the COORDSYS of a file ("E", "ECLIPTIC", "Celestial" ...) means: C, E or G.
[[nodiscard]] std::optional<char> frame_of(const std::string& coordsys);

/// What is to be said of a map whose COORDSYS is not that of the scan; nothing where it is, or is
/// not said. Maps are not turned.
[[nodiscard]] std::optional<std::string> other_frame(const std::string& path,
                                                     const std::string& frame,
                                                     const std::string& scanned);

/// signal[i] += I + q[i] Q + u[i] U of pixel[i].
void scan_sky(const SkyMap& sky, std::span<const Pixel> pixels, std::span<const double> q,
              std::span<const double> u, std::span<double> signal);

}  // namespace skyloom
