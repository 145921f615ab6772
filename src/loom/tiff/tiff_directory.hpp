// SPDX-License-Identifier: BSD-3-Clause
// What a TIFF file says of its pages: sizes, numbers, where strips lie. Reads no pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "loom/files/input_file.hpp"

namespace loom::tiff {

enum class Number { kUint8, kInt8, kUint16, kInt16, kUint32, kInt32, kFloat32, kFloat64 };
[[nodiscard]] std::size_t bytes_of(Number number) noexcept;

enum class Packing { kNone, kLzw, kDeflate };

struct Strip {
  std::uint64_t offset = 0, bytes = 0;
};

struct Page {
  std::size_t width = 0, height = 0;
  Number number = Number::kUint8;
  Packing packing = Packing::kNone;
  bool differences = false;    ///< of each pixel from the one on its left is stored
  std::size_t strip_rows = 0;  ///< of all strips but the last one
  std::vector<Strip> strips;
  std::string description;

  [[nodiscard]] std::size_t row_bytes() const noexcept { return width * bytes_of(number); }
  [[nodiscard]] std::size_t rows_of(std::size_t strip) const noexcept;
};

struct Directory {
  bool swapped = false;  ///< bytes are not in this machine's order
  std::vector<Page> pages;
};

/// Every strip lies within the file and is large enough for its rows. Throws kCorrupt,
/// kUnsupported.
[[nodiscard]] Directory read_directory(const InputFile& file);

}  // namespace loom::tiff
