// SPDX-License-Identifier: BSD-3-Clause
// What files of maps have in common when they are read and written. For map_file.cpp, sky_fits.cpp
// and sky_hdf5.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "skyloom/sky/map_file.hpp"

namespace skyloom {

struct MapContents {
  Healpix pixels{1};
  Ordering ordering = Ordering::kNested;
  std::vector<std::string> names = {};
  std::string unit = {}, frame = {};
  std::vector<double> numbers = {};  ///< of the pixels of a part of the sky; empty: all of it
  std::function<std::vector<double>(std::size_t column)> values = {};  ///< in the file's order
};

/// Throws kPixelisation where `text` is neither NESTED nor RING.
[[nodiscard]] Ordering ordering_named(const std::string& text, const std::string& path);
[[nodiscard]] constexpr const char* name_of(Ordering ordering) noexcept {
  return ordering == Ordering::kNested ? "NESTED" : "RING";
}
/// Numbers of the file's pixels in its ordering, growing; empty: all of them.
[[nodiscard]] std::vector<Pixel> numbers_of(const Healpix& pixels, const MapFile& file);

[[nodiscard]] MapContents open_fits_map(const std::string& path);
void write_fits_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
                    const MapFile& file, const MapValues& values, Executor& executor);

/// The data set `map`: [column][pixel], ORDERING, NSIDE, UNITS, COORDSYS as attributes. COLUMNS,
/// their names, is ours.
[[nodiscard]] MapContents open_hdf5_map(const std::string& path);
void write_hdf5_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
                    const MapFile& file, const MapValues& values);

}  // namespace skyloom
