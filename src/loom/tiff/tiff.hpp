// SPDX-License-Identifier: BSD-3-Clause
// TIFF files of grey images as cameras and image programs write them: one number a pixel, strips,
// plain or packed, one page or many. Needs no library; knows no physics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loom/tiff/tiff_directory.hpp"

namespace loom::tiff {

[[nodiscard]] const char* name_of(Number number) noexcept;

/// An open file. Reading from several threads is safe.
class Reader {
 public:
  /// Throws kNotFound, kCorrupt (no TIFF, or it ends too early), kUnsupported (colours, tiles,
  /// other packings than LZW and deflate).
  explicit Reader(const std::string& path);

  [[nodiscard]] std::size_t pages() const noexcept { return pages_.size(); }
  [[nodiscard]] const Page& page(std::size_t i) const { return pages_.at(i); }
  /// Rows [first, first + rows) of a page, converted. Throws kCorrupt, and kInternal where there
  /// are no such rows, or numbers that 16 bits do not hold.
  void read(std::size_t page, std::size_t first, std::size_t rows, std::span<float> out) const;
  void read(std::size_t page, std::size_t first, std::size_t rows,
            std::span<std::uint16_t> out) const;

 private:
  template <class Value>
  void read_rows(std::size_t page, std::size_t first, std::size_t rows, std::span<Value> out) const;

  InputFile file_;
  bool swapped_ = false;  ///< bytes are in the other order
  std::vector<Page> pages_;
};

/// A file of one page of float32 numbers, whole: what precedes them (little-endian, one strip;
/// BigTIFF where the page is too large for the other), the description as text.
[[nodiscard]] std::vector<std::uint8_t> page_header(std::size_t width, std::size_t height,
                                                    std::string_view description);

}  // namespace loom::tiff
