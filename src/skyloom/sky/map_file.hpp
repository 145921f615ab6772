// SPDX-License-Identifier: BSD-3-Clause
// Maps in files: of HEALPix pixels in FITS as healpy has them and in HDF5 as TOAST has them; flat
// ones in FITS.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/files/atomic_file.hpp"
#include "skyloom/sky/image_place.hpp"
#include "skyloom/sky/sky_map.hpp"

namespace skyloom {

struct MapContents;

/// The pixels that a map has.
struct MapGrid {
  Healpix pixels{1};
  std::optional<ImagePlace> image = {};  ///< of a flat map; none: HEALPix

  [[nodiscard]] std::size_t size() const noexcept {
    return image ? image->cells() : static_cast<std::size_t>(pixels.pixels());
  }
  [[nodiscard]] std::string text() const;  ///< "Nside 64", or the cells; for messages
};

/// HEALPix of one Nside, or the same cells.
[[nodiscard]] bool same_pixels(const MapGrid& a, const MapGrid& b) noexcept;

/// FITS: the first table with NSIDE or PIXTYPE, else the first image of longitude and latitude;
/// HDF5: the data set `map`. NESTED or RING, the whole sky or (FITS, INDXSCHM EXPLICIT) a part.
class MapTable {
 public:
  /// Throws kMissingHdu, kMissingKeyword, kPixelisation, kUnsupported, and what reading throws.
  explicit MapTable(const std::string& path);
  ~MapTable();
  MapTable(const MapTable&) = delete;
  MapTable& operator=(const MapTable&) = delete;

  /// Of a flat map; nullptr: HEALPix.
  [[nodiscard]] const ImagePlace* image() const noexcept;
  /// Of a HEALPix map.
  [[nodiscard]] const Healpix& pixels() const noexcept;
  [[nodiscard]] MapGrid grid() const;
  /// Of the columns of values.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept;
  [[nodiscard]] const std::string& unit() const noexcept;  ///< of the first
  /// Of one of them; where none is noted that of the first.
  [[nodiscard]] const std::string& unit(std::size_t column) const noexcept;
  [[nodiscard]] const std::string& frame() const noexcept;  ///< COORDSYS
  /// [pixel, NESTED], of flat maps [row][column]; NaN where it is UNSEEN, not finite or not there.
  /// U has HEALPix's sign, whatever the file's (POLCCONV).
  [[nodiscard]] std::vector<double> column(std::size_t number) const;

 private:
  std::string path_;
  std::unique_ptr<const MapContents> contents_;
};

/// Columns I, Q, U or I alone (stokes_columns()), in K; a pixel that is UNSEEN or not finite
/// becomes 0 and is counted. Throws what MapTable throws, kWrongShape; kPixelisation: a flat map;
/// kUnsupported: another unit than K, mK, uK or none.
[[nodiscard]] SkyMap read_sky(const std::string& path);

/// Is it an HDF5 file? By its first bytes. Throws kNotFound and the like.
[[nodiscard]] bool begins_as_hdf5(const std::string& path);
/// Does an HDF5 file hold a map?
[[nodiscard]] bool is_hdf5_map(const std::string& path);

enum class MapType { kFloat32, kFloat64, kInt32 };

struct MapFile {
  std::vector<std::string> columns;  ///< names
  std::string unit = {};
  MapType type = MapType::kFloat32;
  Ordering ordering = Ordering::kNested;
  std::string frame = "C";  ///< COORDSYS
  /// NESTED, growing: the pixels that have values, all others are `empty`. FITS has them alone
  /// (INDXSCHM EXPLICIT, healpy's partial maps), HDF5 the chunks with one of them. Null: all.
  const std::vector<Pixel>* part = nullptr;
  double empty = kUnseen;
  bool positive = false;  ///< the first column, of a pixel that has it: 0 there says nothing
  FilesTogether* together = nullptr;  ///< the maps of which it is one; null: it is alone
};

inline constexpr const char *kFitsEnding = ".fits", *kHdf5Ending = ".h5";

/// Throws kUnsupported where no such files can be written.
void require_map_format(const std::string& path);

/// All columns of a pixel, by its NESTED number; of several pixels on several threads at once.
using MapValues = std::function<void(Pixel, double* columns)>;

/// The same values; throws kUnsupported where the file's type would make infinity of one of them,
/// or 0 (or too few digits) of one that is positive.
[[nodiscard]] MapValues with_room(const std::string& path, const MapFile& file, MapValues values);

/// Writes the values of all pixels, or of the file's part: HDF5 where the name ends in .h5, else
/// FITS. Atomic, byte for byte reproducible. Throws kOutputExists, kUnwritable, kDiskFull,
/// kUnsupported (no HDF5 built in; a value that the file's type has no room for).
void write_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
               const MapFile& file, const MapValues& values,
               Executor& executor = serial_executor());

}  // namespace skyloom
