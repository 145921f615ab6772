// SPDX-License-Identifier: BSD-3-Clause
// The contract of the exit codes, and texts: one line, of any length, whatever is in them.
#include "loom/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "loom/base/print.hpp"

namespace loom {
namespace {

/// As docs/fiberloom/formats.md has them: scripts depend on the numbers.
const std::map<Status, int> kContract{{Status::kOk, 0},
                                      {Status::kDifferent, 1},
                                      {Status::kUsage, 2},
                                      {Status::kSomeFailed, 3},
                                      {Status::kNotFound, 10},
                                      {Status::kMissingHdu, 11},
                                      {Status::kMissingKeyword, 12},
                                      {Status::kWrongShape, 13},
                                      {Status::kCorrupt, 14},
                                      {Status::kUnsupported, 15},
                                      {Status::kChanged, 16},
                                      {Status::kUnwritable, 30},
                                      {Status::kDiskFull, 31},
                                      {Status::kOutputExists, 32},
                                      {Status::kNumerical, 40},
                                      {Status::kInterrupted, 50},
                                      {Status::kDevice, 60},
                                      {Status::kMemory, 61},
                                      {Status::kInternal, 70}};

TEST(Status, HasItsNumberAndANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const auto& [status, code] : kContract) {
    EXPECT_EQ(Error(status, "x").exit_code(), code);
    names.insert(status_name(status));
  }
  EXPECT_EQ(names.size(), kContract.size());
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(status_name(static_cast<Status>(99)), "unknown");
}

TEST(Error, KeepsWhatTheSystemSaid) {
  EXPECT_EQ(Error(Status::kUnwritable, "x", EACCES).system_error(), EACCES);
  EXPECT_EQ(Error(Status::kCorrupt, "x").system_error(), 0);
}

TEST(OneLine, NamesEveryControlCharacterAndLeavesAllOthers) {
  for (int c = 1; c < 256; ++c) {
    const std::string text(1, static_cast<char>(c)), line = one_line(text);
    if (c >= 0x20 && c != 0x7f) {
      EXPECT_EQ(line, text) << c;
    } else {
      EXPECT_EQ(line, c == '\n' ? "\\n" : print("\\x%02x", static_cast<unsigned>(c)));
    }
  }
  EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(one_line(""), "");
}

TEST(Print, IsPrintfForTextsAndNumbersOfAnySize) {
  EXPECT_EQ(print("nothing"), "nothing");
  EXPECT_EQ(print("%s", ""), "");
  EXPECT_EQ(print("%5.2f%%|%-4d|%04x", 3.14159, 7, 255U), " 3.14%|7   |00ff");
  EXPECT_EQ(print("%.0f", std::numeric_limits<double>::max()).size(), 309U);
}

}  // namespace
}  // namespace loom
