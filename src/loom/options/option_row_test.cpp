// SPDX-License-Identifier: BSD-3-Clause
#include "loom/options/option_row.hpp"

#include <gtest/gtest.h>

#include <map>

#include "loom/base/test_status.hpp"

namespace loom {
namespace {

enum class Metal { kIron, kTin };

struct Job {
  bool polish = true;
  int turns = -1;
  std::size_t pieces = 3;
  double weight_kg = 0.1;
  std::string owner = "nobody";
  std::optional<double> limit;
  std::vector<std::string> files;
  std::vector<long> ids;
  Metal metal = Metal::kIron;
};

constexpr Word<Metal> kMetals[] = {{"iron", Metal::kIron}, {"tin", Metal::kTin}};

const OptionRow<Job> kRows[] = {
    {.key = "polish",
     .names = "--no-polish",
     .text = "",
     .field = [](Job& j) -> OptionField { return &j.polish; },
     .flag_clears = true,
     .decides_numbers = false},
    {.key = "turns",
     .names = "--turns",
     .text = "",
     .field = [](Job& j) -> OptionField { return &j.turns; },
     .interval = between(-5, 5)},
    {.key = "pieces",
     .names = "-n,--pieces",
     .text = "",
     .field = [](Job& j) -> OptionField { return &j.pieces; }},
    {.key = "weight",
     .names = "--weight",
     .text = "",
     .field = [](Job& j) -> OptionField { return &j.weight_kg; },
     .interval = above(0)},
    {.key = "owner",
     .names = "--owner",
     .text = "",
     .field = [](Job& j) -> OptionField { return &j.owner; }},
    {.key = "limit",
     .names = "--limit",
     .text = "",
     .field = [](Job& j) -> OptionField { return &j.limit; }},
    {.key = "files",
     .names = "--files",
     .text = "",
     .field = [](Job& j) -> OptionField { return &j.files; }},
    {.key = "ids",
     .names = "--ids",
     .text = "",
     .field = [](Job& j) -> OptionField { return &j.ids; }},
    {.key = "metal", .names = "--metal", .text = "", .field = [](Job& j) -> OptionField {
       return word_field(&j.metal, kMetals);
     }}};

const std::span<const OptionRow<Job>> kAll(kRows);

void set(Job& job, const std::string& key, const std::string& text) {
  set_option(kAll, job, key, text);
}

TEST(OptionRows, TellEachMemberWithAllItsDigits) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, text] : option_texts(kAll, Job{})) texts[key] = text;
  EXPECT_EQ(texts, (std::map<std::string, std::string>{{"polish", "true"},
                                                       {"turns", "-1"},
                                                       {"pieces", "3"},
                                                       {"weight", "0.10000000000000001"},
                                                       {"owner", "nobody"},
                                                       {"limit", "none"},
                                                       {"files", ""},
                                                       {"ids", ""},
                                                       {"metal", "iron"}}));
}

TEST(OptionRows, TakeBackWhatTheyTold) {
  Job job;
  for (const auto& [key, text] : std::map<std::string, std::string>{{"polish", "false"},
                                                                    {"turns", "4"},
                                                                    {"pieces", "7"},
                                                                    {"weight", "2.5"},
                                                                    {"owner", "me"},
                                                                    {"limit", "-3"},
                                                                    {"files", "a"},
                                                                    {"ids", "5,-7"},
                                                                    {"metal", "tin"}}) {
    set(job, key, text);
  }
  set(job, "files", "b");  // one more
  const auto texts = option_texts(kAll, job);
  Job again;
  for (const auto& [key, text] : texts) {
    if (key != "files") set(again, key, text);
  }
  again.files = job.files;
  EXPECT_EQ(option_texts(kAll, again), texts);
  EXPECT_EQ(job.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(job.ids, (std::vector<long>{5, -7}));
  EXPECT_EQ(job.metal, Metal::kTin);
  EXPECT_EQ(option_texts(kAll, job, true).size() + 1, texts.size());
}

TEST(OptionRows, RefuseWhatIsNoValueAndKeepTheMember) {
  Job job;
  for (const auto& [key, text] :
       std::vector<std::pair<std::string, std::string>>{{"polish", "no"},
                                                        {"turns", "6"},
                                                        {"turns", "1.5"},
                                                        {"turns", ""},
                                                        {"pieces", "-1"},
                                                        {"weight", "0"},
                                                        {"weight", "nan"},
                                                        {"weight", "1 "},
                                                        {"limit", "inf"},
                                                        {"ids", "1,,2"},
                                                        {"ids", "1,x"},
                                                        {"ids", ""},
                                                        {"metal", "lead"},
                                                        {"colour", "1"}}) {
    EXPECT_EQ(test::status_of([&] { set(job, key, text); }), Status::kUsage) << key << " " << text;
  }
  EXPECT_EQ(option_texts(kAll, job), option_texts(kAll, Job{}));
}

TEST(OptionRows, FaultsNameTheOption) {
  Job job;
  try {
    set(job, "metal", "lead");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--metal lead: expected one of iron, tin");
  }
  EXPECT_EQ(long_name("-n,--pieces,--count"), "--pieces");
}

}  // namespace
}  // namespace loom
