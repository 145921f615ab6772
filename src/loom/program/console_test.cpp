// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/console.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "loom/program/common_options.hpp"

namespace loom {
namespace {

TEST(ProgressLine, ShowsRateAndTimeLeft) {
  EXPECT_EQ(progress_line("extract", 10, 20, 2.0, 10),
            "extract [#####.....] 10/20  5.0/s  2 s left");
}

TEST(ProgressLine, KnowsNoRateBeforeTheFirstUnit) {
  EXPECT_EQ(progress_line("extract", 0, 20, 2.0, 4), "extract [....] 0/20");
}

TEST(ProgressLine, HasNoBarInALog) {
  EXPECT_EQ(progress_line("extract", 20, 20, 4.0, 0), "extract 20/20  5.0/s  0 s left");
}

TEST(Console, WritesOneLineAMessageAndDropsWhatIsBelowItsLevel) {
  testing::internal::CaptureStderr();
  {
    Console console(LogLevel::kWarning);
    console.message(LogLevel::kInfo, "not this");
    console.message(LogLevel::kWarning, "two\nlines");
    console.progress("extract", 1, 2);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("not this"), std::string::npos);
  EXPECT_NE(text.find("WARNING: two\\nlines\n"), std::string::npos);
  EXPECT_EQ(text.find("extract"), std::string::npos);
}

TEST(Console, MayBeUsedFromSeveralThreads) {
  testing::internal::CaptureStderr();
  {
    Console console(LogLevel::kInfo);
    const Observer observer = console.observer();
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < 50; ++i) {
          observer.info("x");
          observer.progress("extract", i, 50 + t);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const std::string text = testing::internal::GetCapturedStderr();
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = text.find("INFO: x\n", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, 200U);
}

TEST(LogOptions, QuietWinsOverVerboseWinsOverTheLevel) {
  EXPECT_EQ((LogOptions{true, true, "info"}.threshold()), LogLevel::kWarning);
  EXPECT_EQ((LogOptions{false, true, "error"}.threshold()), LogLevel::kDebug);
  EXPECT_EQ((LogOptions{false, false, "warn"}.threshold()), LogLevel::kWarning);
  EXPECT_EQ((LogOptions{}.threshold()), LogLevel::kInfo);
}

}  // namespace
}  // namespace loom
