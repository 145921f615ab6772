// SPDX-License-Identifier: BSD-3-Clause
// Numbers that have names.
#include <gtest/gtest.h>

#include "loom/hdf5/hdf5.hpp"
#include "loom/hdf5/test_links.hpp"
#include "loom/testing/test_files.hpp"

namespace loom::hdf5 {
namespace {

TEST(Flags, FalseAndTrueAsH5pyHasThemAreReadAsNumbers) {
  const loom::test::TempFolder folder;
  const std::string path = folder.file("flags.h5");
  test::write_flags(path, "bad", {true, false, true});
  const Reader reader(path);
  EXPECT_EQ(reader.extent("bad"), std::vector<std::size_t>{3});
  EXPECT_EQ(reader.read("bad"), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(reader.read_integers("bad"), (std::vector<std::int64_t>{1, 0, 1}));
  std::vector<std::uint8_t> box(2);
  const std::vector<std::size_t> start{1}, count{2};
  reader.read_box("bad", start, count, std::span(box));
  EXPECT_EQ(box, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(reader.number("bad", "flag"), 1);
}

}  // namespace
}  // namespace loom::hdf5
