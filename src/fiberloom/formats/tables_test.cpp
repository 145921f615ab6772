// SPDX-License-Identifier: BSD-3-Clause
// Tables there and back: the same bytes; in between, the same values as the raw table gives.
#include "fiberloom/formats/tables.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/formats/formats_test_support.hpp"

namespace fiberloom {
namespace {

/// A column of every kind, scaled, undefined and unsigned ones too, with units and odd cards.
RawTable every_kind() {
  RawTable raw;
  raw.rows = 3;
  HeaderCards cards;
  std::size_t n = 0;
  const auto add = [&](const char* name, const char* form, std::size_t bytes) {
    const std::string index = std::to_string(++n);
    cards.set("TTYPE" + index, name, "what it is");
    cards.set("TFORM" + index, form);
    raw.row_bytes += bytes;
  };
  add("TRUTH", "L", 1);
  add("BITS", "11X", 2);
  add("BYTE", "B", 1);
  add("SHORT", "I", 2);
  add("LONG", "J", 4);
  add("WIDE", "1K", 8);
  add("SINGLE", "3E", 12);
  add("REAL", "D", 8);
  add("COMPLEX", "C", 8);
  add("LIST", "1PE(4)", 8);
  add("WORD", "5A", 5);
  add("UNSIGNED", "J", 4);
  add("SCALED", "I", 2);
  cards.set("TNULL4", 257);
  cards.set("TZERO12", 2147483648.0);
  cards.set("TSCAL13", 0.5);
  cards.set("TUNIT8", "deg");
  cards.set("TDIM7", "(3)");
  cards.set("TCOMM8", "right ascension");
  raw.column_cards = cards.cards;
  raw.header.set("SURVEY", "main");
  raw.data.resize(raw.rows * raw.row_bytes);
  for (std::size_t i = 0; i < raw.data.size(); ++i) {
    raw.data[i] = static_cast<std::uint8_t>(i * 73 % 251 + 1);
  }
  raw.data[4] = 1, raw.data[5] = 1;  // SHORT of the first row: undefined
  raw.heap = {1, 2, 3, 4, 5};
  return raw;
}

void expect_same(const RawTable& a, const RawTable& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.row_bytes, b.row_bytes);
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(a.heap, b.heap);
  EXPECT_EQ(a.column_cards, b.column_cards);
  EXPECT_EQ(a.header.cards, b.header.cards);
}

TEST(Tables, ThereAndBackAreTheSameBytesForEveryKindOfColumn) {
  const RawTable raw = every_kind();
  expect_same(to_raw_table(to_table(raw)), raw);
  expect_same(to_raw_table(to_table(test::sample_fibermap(4))), test::sample_fibermap(4));
  RawTable empty;
  expect_same(to_raw_table(to_table(empty)), empty);
}

TEST(Tables, GiveTheValuesThatTheRawTableGives) {
  const RawTable raw = every_kind();
  const Table table = to_table(raw);
  ASSERT_EQ(table.columns.size(), 13U);
  for (const Column& c : table.columns) {
    SCOPED_TRACE(c.name);
    const auto want = raw.column(c.name), got = table.column(c.name);
    ASSERT_EQ(got.has_value(), want.has_value());
    for (std::size_t r = 0; want && r < raw.rows; ++r) {
      EXPECT_TRUE((*got)[r] == (*want)[r] || (std::isnan((*got)[r]) && std::isnan((*want)[r])))
          << r << " " << (*got)[r] << " " << (*want)[r];
    }
    EXPECT_EQ(table.integers(c.name, -7), raw.integers(c.name, -7));
    EXPECT_EQ(table.text_column(c.name), raw.text_column(c.name));
  }
  EXPECT_TRUE(std::isnan(table.column("SHORT")->front()));
  EXPECT_GT(table.column("UNSIGNED")->front(), 0);
  EXPECT_EQ(table.find("REAL")->unit, "deg");
  EXPECT_EQ(table.find("REAL")->comment, "what it is");
}

TEST(Tables, TakeTheRowsThatTheRawTableWouldGive) {
  const RawTable raw = every_kind();
  const std::vector<std::size_t> last{1, 2};
  expect_same(to_raw_table(to_table(raw).take(last)), raw.slice(1, 2));
}

TEST(Tables, ColumnsThatAreAddedGetTheCardsOfABuilder) {
  const std::vector<double> ra{1.5, 2.5};
  const std::vector<std::string> type{"SKY", "TGT"};
  const std::vector<std::int64_t> id{5, 6};
  Table table;
  table.add("TARGET_RA", ra, "deg", "right ascension").add("OBJTYPE", type, 3).add("ID", id);
  expect_same(to_raw_table(table), fits::TableBuilder(2)
                                       .add("TARGET_RA", ra, "deg", "right ascension")
                                       .add("OBJTYPE", type, 3)
                                       .add("ID", id)
                                       .build());

  Table more = to_table(test::sample_fibermap(2));
  more.add("MORE", std::vector<float>{0.5F, 0.25F});
  const RawTable raw = to_raw_table(more);
  EXPECT_EQ(HeaderCards{raw.column_cards}.text("TFORM4"), "E");
  EXPECT_EQ(raw.column("MORE"), (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(raw.integers("FIBER", -1), (std::vector<std::int64_t>{0, 1}));
}

TEST(Tables, ColumnsThatDoNotMakeUpTheRowsAreRefused) {
  RawTable raw = test::sample_fibermap(2);
  raw.row_bytes += 1;
  raw.data.resize(raw.rows * raw.row_bytes);
  EXPECT_EQ(test::thrown_by([&] { (void)to_table(raw); }).status, Status::kCorrupt);
}

}  // namespace
}  // namespace fiberloom
