// SPDX-License-Identifier: BSD-3-Clause
// Against the library itself: the same text from the same values, the same values from the same
// text.
#include "loom/json/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace loom {
namespace {

using Library = nlohmann::ordered_json;

TEST(Json, WritesWhatTheLibraryWrites) {
  for (const int indent : {-1, 0, 1, 2}) {
    for (const bool ascii : {false, true}) {
      const JsonText text = ascii ? JsonText::kAscii : JsonText::kUtf8;
      Json x = {{"name", "r0"}, {"list", {1, 2.5, "three", Json()}}};
      Library y = {{"name", "r0"}, {"list", {1, 2.5, "three", nullptr}}};
      const auto fill = [](auto& json, auto empty_array, auto empty_object) {
        json["big"] = std::uint64_t{18446744073709551615U};
        json["small"] = std::int64_t{-5};
        json["flag"] = true;
        json["nothing"] = empty_array;
        json["object"] = empty_object;
        json["inner"]["deep"]["x"] = 1e-300;
        json["text"] = "quote \" back \\ line \n bell \x07 \xE2\x82\xAC \xF0\x9F\x98\x80 \xFF end";
        json["numbers"] =
            std::vector<double>{0.0,  -0.0, 1.0,  0.1,    1e15,  1e16,   123456789.125,
                                1e-4, 1e-5, 1e22, 5e-324, 1e308, 1.0 / 3};
        json["none"] = std::numeric_limits<double>::quiet_NaN();
        json["infinite"] = std::numeric_limits<double>::infinity();
        json["name"] = "again";
      };
      fill(x, Json::array(), Json::object());
      fill(y, Library::array(), Library::object());
      EXPECT_EQ(x.dump(indent, text),
                y.dump(indent, ' ', ascii, Library::error_handler_t::replace));
    }
  }
}

TEST(Json, ReadsWhatItWroteAndWhatTheLibraryReads) {
  const char* const text =
      R"( {"a": [1, -2, 3.5, 1e400, "x", null, true, {}], "b": 18446744073709551615, "a2": {"c": []}} )";
  const auto json =
      Json::parse(R"({"a": [1, -2, 3.5, "x", null, true, {}], "b": 18446744073709551615})");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at("a").size(), 7U);
  EXPECT_EQ(json->at("a").elements()[1].get<int>(), -2);
  EXPECT_EQ(json->at("a").elements()[2].get<double>(), 3.5);
  EXPECT_EQ(json->at("b").get<std::uint64_t>(), 18446744073709551615U);
  EXPECT_THROW((void)json->at("b").get<std::int64_t>(), JsonError);
  EXPECT_EQ(Json::parse(json->dump(2))->dump(), json->dump());
  EXPECT_FALSE(Json::parse(text)) << "a number that no double holds";
}

TEST(Json, SaysWhatIsNotThere) {
  const Json json = {{"text", "x"}, {"number", 300}, {"list", {1, 2}}};
  EXPECT_THROW((void)json.at("other"), JsonError);
  EXPECT_THROW((void)json.at("text").get<int>(), JsonError);
  EXPECT_THROW((void)json.at("number").get<std::uint8_t>(), JsonError);
  EXPECT_THROW((void)json.at("number").get<std::string>(), JsonError);
  EXPECT_THROW((void)json.at("number").members(), JsonError);
  EXPECT_EQ(json.at("list").get<std::vector<int>>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(json.value("other", 7), 7);
  EXPECT_EQ(json.value("number", 7), 300);
  EXPECT_EQ(json.at("number").get<double>(), 300);
}

TEST(Json, BadTextIsNone) {
  for (const char* text :
       {"", "{", "[1,", "nul", "{\"a\" 1}", "[1] x", "\xFF", "{\"a\":\"\xFF\"}"}) {
    EXPECT_FALSE(Json::parse(text)) << text;
  }
  EXPECT_TRUE(Json::parse(std::string(150, '[') + std::string(150, ']')));
  EXPECT_FALSE(Json::parse(std::string(100000, '['))) << "and no end of the stack";
  EXPECT_FALSE(Json::parse(std::string(300, '[') + std::string(300, ']')));
}

TEST(Json, AnyTextIsReadAsTheLibraryReadsIt) {
  std::mt19937 random(7);
  const std::string good = R"({"a":[1,2.5,"x\u20ac",null],"b":{"c":true,"d":-7e3}})";
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    for (int k = random() % 4; k >= 0; --k) {
      text[random() % text.size()] = static_cast<char>(random() % 128);
    }
    const auto ours = Json::parse(text);
    const auto theirs = Library::parse(text, nullptr, false);
    ASSERT_EQ(ours.has_value(), !theirs.is_discarded()) << text;
    if (ours) {
      EXPECT_EQ(ours->dump(), theirs.dump(-1, ' ', false, Library::error_handler_t::replace));
    }
  }
}

}  // namespace
}  // namespace loom
