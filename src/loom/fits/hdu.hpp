// SPDX-License-Identifier: BSD-3-Clause
// The structure of a FITS file: where each HDU lies and what it is, checked against the file's
// size. Everything later stands on these checks: no HDU claims bytes that are not there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loom/files/byte_source.hpp"
#include "loom/fits/raw_table.hpp"

namespace loom::fits {

inline constexpr std::size_t kBlock = 2880;

enum class HduKind { kImage, kTable, kAsciiTable, kCompressedImage, kOther };

struct Hdu {
  std::size_t number = 0;  ///< 0 is the primary
  std::string name;        ///< EXTNAME, upper case, blanks taken off
  HduKind kind = HduKind::kOther;
  HeaderCards header;                             ///< every card before END, as in the file
  std::uint64_t data_offset = 0, data_bytes = 0;  ///< data unit without padding, heap included
  std::uint32_t header_sum = 0;                   ///< FITS checksum of the header's blocks
  /// Of the image (the unpacked one where compressed), FITS order: NAXIS1 first.
  int bitpix = 8;
  std::vector<std::size_t> axes;
  double bscale = 1, bzero = 0;                          ///< NaN where the card is no number
  std::optional<std::int64_t> blank;                     ///< integer that stands for NaN
  std::size_t row_bytes = 0, rows = 0, heap_offset = 0;  ///< of tables; heap from data_offset

  /// Number of image pixels; 0 without axes.
  [[nodiscard]] std::size_t pixels() const noexcept;
  [[nodiscard]] bool is_image() const noexcept {
    return (kind == HduKind::kImage || kind == HduKind::kCompressedImage) && pixels() > 0;
  }
  /// Where the data unit ends with its padding, which the end of a file may lack.
  [[nodiscard]] std::uint64_t end() const noexcept;
  /// "HDU 3 'MASK'", for messages.
  [[nodiscard]] std::string label() const;
  /// "4128 x 4114" in C order, for messages; "empty" without axes.
  [[nodiscard]] std::string shape() const;
  /// The cards that travel: no structural ones, no column cards of a table.
  [[nodiscard]] HeaderCards user_header() const;
};

/// Reads all headers. Throws kCorrupt: no FITS file, header without END, impossible sizes, data
/// beyond the end of the file. What follows the last HDU and is none is ignored.
[[nodiscard]] std::vector<Hdu> scan_hdus(const ByteSource& source);

}  // namespace loom::fits
