// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/row_spool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "loom/testing/test_files.hpp"

namespace tomoloom {
namespace {

TEST(RowSpool, GivesBlocksOfRowsOfFramesThatCameInAnyBoxes) {
  const loom::test::TempFolder folder;
  const std::size_t frames = 7, rows = 11, columns = 3, block = 4;
  const auto value = [&](std::size_t f, std::size_t r, std::size_t c) {
    return static_cast<std::uint16_t>((f * rows + r) * columns + c);
  };
  RowSpool spool(
      folder.file(""),
      {.frames = frames, .rows = rows, .columns = columns, .block_rows = block, .value_bytes = 2});
  for (std::size_t f = 0; f < frames; f += 3) {
    for (std::size_t r = 0; r < rows; r += 5) {
      const std::size_t nf = std::min<std::size_t>(3, frames - f);
      const std::size_t nr = std::min<std::size_t>(5, rows - r);
      std::vector<std::uint16_t> box;
      for (std::size_t i = 0; i < nf; ++i) {
        for (std::size_t j = 0; j < nr; ++j) {
          for (std::size_t c = 0; c < columns; ++c) box.push_back(value(f + i, r + j, c));
        }
      }
      spool.put(f, nf, r, nr, std::as_bytes(std::span(box)));
    }
  }
  for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 4},
                                     {4, 4},
                                     {8, 3},
                                     {4, 2},
                                     {9, 1},
                                     {2, 7},
                                     {0, 11}}) {
    std::vector<std::uint16_t> got(frames * count * columns);
    spool.get(first, count, std::as_writable_bytes(std::span(got)));
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t f = i / (count * columns), r = i / columns % count, c = i % columns;
      ASSERT_EQ(got[i], value(f, first + r, c)) << first << " " << i;
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("")));
}

}  // namespace
}  // namespace tomoloom
