// SPDX-License-Identifier: BSD-3-Clause
// Bytes as the format's text has them; that whole files open elsewhere is tested end to end.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "loom/base/error.hpp"
#include "loom/parquet/parquet.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace loom::parquet {
namespace {

class Parquet : public ScratchFolder {
 protected:
  [[nodiscard]] std::string written(const std::vector<Column>& columns) const {
    write_parquet(path("table.parquet"), columns, "a test", Overwrite::kYes);
    std::ifstream in(path("table.parquet"), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

std::uint32_t footer_bytes(const std::string& file) {
  std::uint32_t n = 0;
  std::memcpy(&n, file.data() + file.size() - 8, 4);
  return n;
}

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int v : values) out += static_cast<char>(v);
  return out;
}

TEST_F(Parquet, BeginsAndEndsWithItsMarkAndTellsHowLongItsFooterIs) {
  const std::string file = written({{"a", std::vector<std::int32_t>{1, 2}}});
  EXPECT_EQ(file.substr(0, 4), "PAR1");
  EXPECT_EQ(file.substr(file.size() - 4), "PAR1");
  const std::string footer = file.substr(file.size() - 8 - footer_bytes(file), footer_bytes(file));
  // field 1 (i32) is the version 1; field 2 a list of two schema elements (structs)
  EXPECT_EQ(footer.substr(0, 4), bytes({0x15, 0x02, 0x19, 0x2c}));
  EXPECT_EQ(footer.substr(footer.size() - 9), bytes({0x28, 6}) + "a test" + bytes({0}));
}

TEST_F(Parquet, PutsNumbersAsTheyAreAfterAHeaderOfThePage) {
  const std::string file = written({{"a", std::vector<std::int32_t>{1, -2}}});
  // type 0, 8 bytes unpacked and packed, then (field 5): 2 values, PLAIN, levels RLE and RLE
  const std::string header =
      bytes({0x15, 0, 0x15, 16, 0x15, 16, 0x2c, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0});
  EXPECT_EQ(file.substr(4, header.size()), header);
  EXPECT_EQ(file.substr(4 + header.size(), 8), bytes({1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff}));
}

TEST_F(Parquet, LeavesOutWhatIsNotKnownAndSaysWhere) {
  const std::string file =
      written({{"t", std::vector<std::string>{"ab", "no", "c"}, {true, false, true}}});
  // runs of 1, 0, 1 known rows: six bytes, then the texts with their lengths
  const std::string page = bytes({6, 0, 0, 0, 2, 1, 2, 0, 2, 1}) + bytes({2, 0, 0, 0}) + "ab" +
                           bytes({1, 0, 0, 0}) + "c";
  EXPECT_NE(file.find(page), std::string::npos);
  EXPECT_EQ(file.find("no"), std::string::npos);
}

TEST_F(Parquet, PacksBooleansEightAByteTheFirstLowest) {
  const std::string file = written(
      {{"b", std::vector<bool>{true, false, false, true, false, false, false, true, true}}});
  EXPECT_NE(file.find(bytes({0x89, 0x01})), std::string::npos);
}

TEST_F(Parquet, WritesShortNumbersAsLongOnesOfAShortKind) {
  const std::string file = written({{"s", std::vector<std::int16_t>{-1}}});
  EXPECT_NE(file.find(bytes({0xff, 0xff, 0xff, 0xff})), std::string::npos);
}

TEST_F(Parquet, BeginsAGroupOfRowsWhenOneIsFull) {
  const std::string one = written({{"b", std::vector<bool>(kGroupRows, true)}}),
                    two = written({{"b", std::vector<bool>(kGroupRows + 1, true)}});
  // a page of one byte and its header, and a longer footer
  EXPECT_GT(two.size(), one.size() + 18 + 30);
  EXPECT_GT(footer_bytes(two), footer_bytes(one) + 20);
}

TEST_F(Parquet, IsTheSameForTheSameTableAndFineWithoutRows) {
  const std::vector<Column> none{{"x", std::vector<double>{}}, {"y", std::vector<float>{}}};
  EXPECT_EQ(written(none), written(none));
  EXPECT_EQ(written({}).substr(0, 4), "PAR1");
}

TEST_F(Parquet, RefusesColumnsThatDoNotFitAndLeavesNoFile) {
  const Column a{"a", std::vector<double>{1, 2}}, b{"b", std::vector<double>{1}};
  const std::vector<std::vector<Column>> wrong{
      {a, b}, {a, a}, {{"c", std::vector<double>{1, 2}, {true}}}};
  for (const auto& columns : wrong) EXPECT_THROW((void)written(columns), Error);
  EXPECT_FALSE(there("table.parquet"));
}

}  // namespace
}  // namespace loom::parquet
