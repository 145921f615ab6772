// SPDX-License-Identifier: BSD-3-Clause
// HEALPix maps in FITS files, as healpy reads and writes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loom/files/atomic_file.hpp"
#include "skyloom/sky/sky_map.hpp"

namespace skyloom {

/// The first table with NSIDE or PIXTYPE: NESTED or RING, the whole sky or (INDXSCHM EXPLICIT) a
/// part.
class MapTable {
 public:
  /// Throws kMissingHdu, kMissingKeyword, kPixelisation, and what reading throws.
  explicit MapTable(const std::string& path);
  ~MapTable();
  MapTable(const MapTable&) = delete;
  MapTable& operator=(const MapTable&) = delete;

  [[nodiscard]] const Healpix& pixels() const noexcept { return pixels_; }
  /// Of the columns of values.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] const std::string& unit() const noexcept { return unit_; }    ///< of the first
  [[nodiscard]] const std::string& frame() const noexcept { return frame_; }  ///< COORDSYS
  /// [pixel, NESTED]; NaN where it is UNSEEN, not finite or not there.
  [[nodiscard]] std::vector<double> column(std::size_t number) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  Healpix pixels_{1};
  std::vector<std::string> names_;
  std::string unit_, frame_;
};

/// The first table with NSIDE or PIXTYPE, three columns I, Q, U or one, I, NESTED or RING, the
/// whole sky or (INDXSCHM EXPLICIT) a part; a pixel that is UNSEEN or not finite becomes 0 and is
/// counted. Throws kMissingHdu, kMissingKeyword, kPixelisation, and what reading throws.
[[nodiscard]] SkyMap read_sky(const std::string& path);

enum class MapType { kFloat32, kFloat64, kInt32 };

struct MapFile {
  std::vector<std::string> columns;  ///< names
  std::string unit = {};
  MapType type = MapType::kFloat32;
  Ordering ordering = Ordering::kNested;
  std::string frame = "C";  ///< COORDSYS
  /// NESTED: the pixels that the file has (INDXSCHM EXPLICIT), as healpy's partial maps; null: all.
  const std::vector<Pixel>* part = nullptr;
};

/// Writes the values of all pixels (or of the file's part), asked for in the order of the file by
/// their NESTED numbers. Atomic, byte for byte reproducible. Throws kOutputExists, kUnwritable,
/// kDiskFull.
void write_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
               const MapFile& file, const std::function<void(Pixel, double*)>& values);

}  // namespace skyloom
