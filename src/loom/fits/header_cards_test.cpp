// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fits/header_cards.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace loom {
namespace {

TEST(HeaderCards, GivesBackWhatWasSet) {
  HeaderCards h;
  h.set("CAMERA", "r0", "the camera");
  h.set("WAVEMIN", 5760.0);
  h.set("EXPID", std::int64_t{67784});
  h.set_logical("GOOD", true);

  EXPECT_EQ(h.text("CAMERA"), "r0");
  EXPECT_EQ(h.comment("CAMERA"), "the camera");
  EXPECT_EQ(h.number("WAVEMIN"), 5760.0);
  EXPECT_EQ(h.integer("EXPID"), 67784);
  EXPECT_EQ(h.logical("GOOD"), true);
  for (const auto& card : h.cards) EXPECT_EQ(card.size(), 80U) << card;
}

TEST(HeaderCards, ReplaceKeepsThePlaceAndTheOtherCards) {
  HeaderCards h;
  h.set("A", 1);
  h.set("B", 2);
  h.set("A", "now a text");

  ASSERT_EQ(h.cards.size(), 2U);
  EXPECT_TRUE(h.cards[0].starts_with("A       = 'now a text'"));
  EXPECT_EQ(h.integer("B"), 2);
}

TEST(HeaderCards, LongTextGoesThroughContinueCardsAndBack) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "it's part " + std::to_string(i) + "; ";
  text += "end";
  HeaderCards h;
  h.set("LONG", text);
  h.set("NEXT", 1);

  EXPECT_GT(h.cards.size(), 3U);
  EXPECT_EQ(h.text("LONG"), text);
  h.set("LONG", "short");
  EXPECT_EQ(h.cards.size(), 2U);
  EXPECT_EQ(h.text("LONG"), "short");
}

TEST(HeaderCards, EveryLengthOfTextSurvives) {
  for (std::size_t n = 0; n < 200; ++n) {
    HeaderCards h;
    const std::string text = std::string(n, 'x') + (n % 3 == 0 ? "'" : "");
    h.set("KEY", text);
    EXPECT_EQ(h.text("KEY"), text) << n;
    for (const auto& card : h.cards) EXPECT_EQ(card.size(), 80U);
  }
}

TEST(HeaderCards, DoublesReadBackExactly) {
  for (const double v : {0.1, 1e-300, -3.25e17, 5760.0, 1.0 / 3.0}) {
    HeaderCards h;
    h.set("V", v);
    EXPECT_EQ(h.number("V"), v);
  }
}

TEST(HeaderCards, NumbersThatAreNotFiniteAreNoNumbers) {
  HeaderCards h;
  h.set("V", std::numeric_limits<double>::quiet_NaN());
  h.cards.push_back(
      "W       =                  NaN                                                  ");
  h.cards.push_back(
      "X       =                1E999                                                  ");

  EXPECT_EQ(h.text("V"), "nan");
  EXPECT_FALSE(h.number("V"));
  EXPECT_FALSE(h.number("W"));
  EXPECT_FALSE(h.number("X"));
}

TEST(HeaderCards, ReadsNumbersInQuotesAndWithFortranExponents) {
  HeaderCards h;
  h.cards = {"PSFVER  = '3       '", "OLD     = 1.5D3 / comment", "PLUS    = +7"};

  EXPECT_EQ(h.number("PSFVER"), 3.0);
  EXPECT_EQ(h.number("OLD"), 1500.0);
  EXPECT_EQ(h.integer("PLUS"), 7);
  EXPECT_EQ(h.comment("OLD"), "comment");
}

TEST(HeaderCards, ReadsHierarchKeywords) {
  HeaderCards h;
  h.cards = {"HIERARCH ESO long key = 3.5 / yes"};

  EXPECT_EQ(h.number("ESO LONG KEY"), 3.5);
}

TEST(SafeCards, LeaveOutStructureAndQuoteWhatIsNoValue) {
  HeaderCards h;
  h.cards = {"BITPIX  =                   16",
             "NAXIS1  = 5",
             "ZENITH  = 3.0",
             "BAD     = nan / hm",
             "COMMENT a comment",
             "T\xE9L     = 1",
             "NAME    = 'caf\xE9'"};

  const HeaderCards safe{fits::safe_cards(h)};

  EXPECT_FALSE(safe.has("BITPIX"));
  EXPECT_FALSE(safe.has("NAXIS1"));
  EXPECT_TRUE(safe.has("ZENITH"));
  EXPECT_EQ(safe.text("BAD"), "nan");
  EXPECT_EQ(safe.text("NAME"), "caf?");
  for (const auto& card : safe.cards) {
    EXPECT_EQ(card.size(), 80U);
    for (const char c : card) EXPECT_TRUE(c >= ' ' && c <= '~');
  }
}

TEST(ParseCard, SurvivesAnyEightyBytes) {
  std::uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string card = i % 2 == 0 ? "KEY     = " : "HIERARCH ";
    while (card.size() < 80) {
      state = state * 1664525U + 1013904223U;
      card += "'/ =.E5T&(,)\0\xff"[(state >> 24) % 14];
    }
    const auto value = fits::parse_card(card);
    EXPECT_LE(value.text.size(), 80U);
    (void)fits::safe_cards(HeaderCards{{card}});
  }
}

TEST(HeaderCards, IntegersKeepAll64Bits) {
  HeaderCards h;
  h.cards = {"A       =  9223372036854775807",
             "B       = -9223372036854775808",
             "C       =  9223372036854775808",
             "D       = '  42    '",
             "E       = +7",
             "F       = 1.0E3",
             "G       = +-7"};
  EXPECT_EQ(h.integer("A"), INT64_MAX);
  EXPECT_EQ(h.integer("B"), INT64_MIN);
  EXPECT_FALSE(h.integer("C"));
  EXPECT_EQ(h.integer("D"), 42);
  EXPECT_EQ(h.integer("E"), 7);
  EXPECT_EQ(h.integer("F"), 1000);
  EXPECT_FALSE(h.integer("G"));
}

}  // namespace
}  // namespace loom
