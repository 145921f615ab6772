// SPDX-License-Identifier: BSD-3-Clause
// What the header of a tile-compressed image says, checked; and the packed bytes of each tile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/files/byte_source.hpp"
#include "loom/fits/hdu.hpp"

namespace loom::fits {

enum class Dither { kNone, kOne, kTwo };

/// The table of a compressed image: one row is one tile.
class TileTable {
 public:
  /// Throws kCorrupt when tiles and rows disagree or parameters make no sense.
  TileTable(const ByteSource& source, const Hdu& hdu);

  std::string code;                ///< ZCMPTYPE
  std::vector<std::size_t> tile;   ///< ZTILEn, cut at the image
  std::vector<std::size_t> tiles;  ///< tiles along each axis
  std::size_t count = 1;           ///< tiles in all
  int rice_bytes = 4;
  std::size_t rice_block = 32;
  std::int64_t hcompress_smooth = 0;
  bool lossless = true;  ///< floats stand as they are; else as integers with ZSCALE and ZZERO
  Dither dither = Dither::kNone;
  std::int64_t dither_seed = 1;  ///< ZDITHER0

  /// Packed bytes of tile t, appended descriptors checked; empty where the column or cell is.
  /// They are read into `buffer`.
  enum class Cell { kCompressed, kGzip, kRaw };
  [[nodiscard]] std::span<const std::uint8_t> cell(Cell which, std::size_t t,
                                                   std::vector<std::uint8_t>& buffer) const;

  /// Quantisation of tile t: column, else keyword. Throws kCorrupt: none, or no usable number.
  [[nodiscard]] double scale(std::size_t t) const;
  [[nodiscard]] double zero(std::size_t t) const;
  /// The integer that stands for an undefined pixel: column, else keyword, else nullopt.
  [[nodiscard]] std::optional<std::int64_t> blank(std::size_t t) const;

  [[nodiscard]] const RawTable& table() const { return table_; }
  [[noreturn]] void corrupt(const std::string& what) const;
  [[noreturn]] void unsupported(const std::string& what) const;
  [[noreturn]] void corrupt_tile(std::size_t t, const std::string& what) const;

 private:
  void read_tiles();
  void read_parameters();
  void read_quantiser();
  [[nodiscard]] double quantiser(const char* name, const std::optional<TableColumn>& column,
                                 std::size_t t) const;
  [[nodiscard]] std::optional<double> value(const std::optional<TableColumn>& column,
                                            std::size_t t) const;

  const ByteSource& source_;
  const Hdu& hdu_;
  RawTable table_;  ///< column cards and rows; the heap stays in the source
  std::optional<TableColumn> cells_[3], scale_, zero_, blank_;
};

}  // namespace loom::fits
