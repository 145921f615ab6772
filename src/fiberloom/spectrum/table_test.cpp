// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"

namespace fiberloom {
namespace {

using loom::test::status_of;

Table three_rows() {
  Table t;
  t.add("FLUX", std::array{1.5, 2.5, -1.0}, "nmgy");
  t.add("FIBER", std::array<std::int32_t, 3>{7, 8, 9});
  t.add("TARGETID", std::array<std::int64_t, 3>{39633437979313101, -1, 5});
  t.add("OBJTYPE", std::array<std::string, 3>{"TGT", "SKY", "a long word"}, 4);
  return t;
}

TEST(Table, GivesColumnsAsNumbersIntegersAndText) {
  const Table t = three_rows();
  EXPECT_EQ(t.rows, 3U);
  EXPECT_EQ(t.column("flux"), (std::vector<double>{1.5, 2.5, -1}));
  EXPECT_EQ(t.integers("FIBER", -1), (std::vector<std::int64_t>{7, 8, 9}));
  EXPECT_EQ(t.integers("TARGETID", 0)->front(), 39633437979313101) << "more than 53 bits";
  EXPECT_EQ(t.text_column("OBJTYPE"), (std::vector<std::string>{"TGT", "SKY", "a lo"}));
  EXPECT_EQ(t.find("FLUX")->unit, "nmgy");
}

TEST(Table, SaysNothingOfColumnsThatAreNotThereOrOfAnotherKind) {
  const Table t = three_rows();
  EXPECT_EQ(t.find("nothing"), nullptr);
  EXPECT_FALSE(t.column("nothing"));
  EXPECT_FALSE(t.column("OBJTYPE"));
  EXPECT_FALSE(t.integers("OBJTYPE", 0));
  EXPECT_FALSE(t.text_column("FIBER"));
  Table wide = t;
  wide.columns[0].width = 0;
  EXPECT_FALSE(wide.column("FLUX")) << "a column of vectors is no column of numbers";
}

TEST(Table, ScalesAndLeavesOutWhatIsUndefined) {
  Table t = three_rows();
  t.columns[1].undefined = 8;
  t.columns[1].zero = 2147483648.0;
  const auto numbers = *t.column("FIBER");
  EXPECT_EQ(numbers[0], 2147483655.0);
  EXPECT_TRUE(std::isnan(numbers[1]));
  EXPECT_EQ(t.integers("FIBER", -5), (std::vector<std::int64_t>{2147483655, -5, 2147483657}));
  t.columns[2].zero = 0x1p63;  // unsigned, as FITS has it
  EXPECT_EQ(t.integers("TARGETID", -5), (std::vector<std::int64_t>{-5, INT64_MAX, -5}));
  t.columns[2].scale = 0.5;
  t.columns[2].zero = 0;
  EXPECT_EQ(t.column("TARGETID")->back(), 2.5);
  EXPECT_EQ(t.integers("TARGETID", -5)->back(), 2);
}

TEST(Table, ReadsTruthAndNothingOfOpaqueBytes) {
  Table t;
  t.rows = 3;
  t.columns.push_back({.name = "GOOD", .cell = Cell::kTruth, .data = {'T', 'F', 0}});
  t.columns.push_back({.name = "BITS", .cell = Cell::kOpaque, .data = {1, 2, 3}});
  const auto good = *t.column("GOOD");
  EXPECT_EQ(good[0], 1);
  EXPECT_EQ(good[1], 0);
  EXPECT_TRUE(std::isnan(good[2]));
  EXPECT_FALSE(t.column("BITS"));
  EXPECT_TRUE(std::isnan(number_of(t.columns[1], 0)));
}

TEST(Table, TakesRowsInAnyOrderAndMoreThanOnce) {
  const Table t = three_rows().take(std::array<std::size_t, 4>{2, 0, 0, 1});
  EXPECT_EQ(t.rows, 4U);
  EXPECT_EQ(t.column("FIBER"), (std::vector<double>{9, 7, 7, 8}));
  EXPECT_EQ(t.text_column("OBJTYPE")->front(), "a lo");
  EXPECT_EQ(t.take({}).rows, 0U);
  EXPECT_EQ(status_of([] { (void)three_rows().take(std::array<std::size_t, 1>{3}); }),
            loom::Status::kWrongShape);
}

TEST(Table, DropsAColumnAndForgetsWhatAFileSaidOfIts) {
  Table t;
  const std::vector<double> ones{1, 1};
  t.add("A", ones).add("B", ones);
  t.descriptions = {"TUNIT1  = 'mm'"}, t.described = 2;
  t.drop("C");
  EXPECT_EQ(t.described, 2U);
  t.drop("a");
  ASSERT_EQ(t.columns.size(), 1U);
  EXPECT_EQ(t.columns[0].name, "B");
  EXPECT_TRUE(t.descriptions.empty());
  EXPECT_EQ(t.described, 0U);
}

TEST(Table, RefusesAColumnOfAnotherLength) {
  Table t = three_rows();
  EXPECT_EQ(status_of([&] { t.add("SHORT", std::array{1.0, 2.0}); }), loom::Status::kInternal);
  EXPECT_EQ(t.columns.size(), 4U);
}

}  // namespace
}  // namespace fiberloom
