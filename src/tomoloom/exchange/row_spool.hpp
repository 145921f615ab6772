// SPDX-License-Identifier: BSD-3-Clause
// Frames on their way to blocks of rows: a temporary file without a name in which the rows of a
// block lie together. A scan that is stored in packed chunks is unpacked once, not once a block.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

struct SpoolShape {
  std::size_t frames = 0, rows = 0, columns = 0;
  std::size_t block_rows = 0;  ///< rows that are read together; of the last block what is left
  std::size_t value_bytes = 4;
};

/// Layout: [block][frame][row of the block][column].
class RowSpool {
 public:
  /// The file lies in `folder`. Throws kUnwritable, kDiskFull; put() too.
  RowSpool(const std::string& folder, const SpoolShape& shape);
  ~RowSpool();
  RowSpool(const RowSpool&) = delete;
  RowSpool& operator=(const RowSpool&) = delete;

  /// Rows [row, row + rows) of frames [frame, frame + frames): [frame][row][column].
  void put(std::size_t frame, std::size_t frames, std::size_t row, std::size_t rows,
           std::span<const std::byte> values);
  /// Rows of all frames, quickest where they are a block's: [frame][row][column].
  void get(std::size_t row, std::size_t rows, std::span<std::byte> values) const;

 private:
  [[nodiscard]] std::size_t rows_of(std::size_t block) const noexcept;
  /// Where a row of a frame begins in the file.
  [[nodiscard]] std::size_t place(std::size_t frame, std::size_t row) const noexcept;

  void fetch(std::size_t from, std::span<std::byte> to) const;

  std::string folder_;
  SpoolShape shape_;
  int fd_ = -1;
};

}  // namespace tomoloom
