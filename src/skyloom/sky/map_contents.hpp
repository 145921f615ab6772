// SPDX-License-Identifier: BSD-3-Clause
// What files of maps have in common when they are read and written. For map_file.cpp, sky_fits.cpp,
// sky_hdf5.cpp and wcs_fits.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loom/fits/fits_reader.hpp"
#include "skyloom/sky/image_place.hpp"
#include "skyloom/sky/map_file.hpp"

namespace skyloom {

struct MapContents {
  std::optional<ImagePlace> image = {};  ///< none: HEALPix
  Healpix pixels{1};
  Ordering ordering = Ordering::kNested;
  std::vector<std::string> names = {};
  std::string unit = {}, frame = {};
  std::vector<std::string> units = {};  ///< of each column, where they may differ; empty: of none
  bool iau = false;                     ///< POLCCONV: U has the other sign than HEALPix's
  std::optional<std::vector<double>> numbers = {};  ///< of a part's pixels; none: all of the sky
  std::function<std::vector<double>(std::size_t column)> values = {};  ///< in the file's order
};

/// Throws kPixelisation where `text` is neither NESTED nor RING.
[[nodiscard]] Ordering ordering_named(const std::string& text, const std::string& path);
[[nodiscard]] constexpr const char* name_of(Ordering ordering) noexcept {
  return ordering == Ordering::kNested ? "NESTED" : "RING";
}
/// Throws kPixelisation, with the file, where a map of so many pixels, or of that Nside, is none.
[[nodiscard]] Healpix pixels_of_file(const std::string& path, std::int64_t nside);
[[nodiscard]] Healpix so_many_pixels(const std::string& path, std::size_t pixels);
/// Numbers of the file's pixels in its ordering, growing; empty: all of them.
[[nodiscard]] std::vector<Pixel> numbers_of(const Healpix& pixels, const MapFile& file);

/// POLCCONV: the convention of the IAU, not HEALPix's (COSMO).
[[nodiscard]] inline bool is_iau(const HeaderCards& header) {
  return header.text("POLCCONV").value_or("") == "IAU";
}
/// Says so of a file that has a U, or products of it.
void note_convention(const std::vector<std::string>& columns, HeaderCards& header);
[[nodiscard]] MapContents open_fits_map(const std::string& path);
/// An image whose two first axes are longitude and latitude, with a third one or without.
[[nodiscard]] bool is_flat_map(const fits::Hdu& hdu);
/// Throws kMissingKeyword; kUnsupported: a projection that is neither CAR nor TAN, cells that are
/// turned or no squares.
[[nodiscard]] MapContents open_flat_map(const std::shared_ptr<const fits::FitsReader>& file,
                                        const fits::Hdu& hdu);
void write_fits_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
                    const MapFile& file, const MapValues& values, Executor& executor);

/// The data set `map`: [column][pixel], ORDERING, NSIDE, UNITS, COORDSYS as attributes. COLUMNS,
/// their names, is ours.
[[nodiscard]] MapContents open_hdf5_map(const std::string& path);
void write_hdf5_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
                    const MapFile& file, const MapValues& values);

}  // namespace skyloom
