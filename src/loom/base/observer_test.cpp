// SPDX-License-Identifier: BSD-3-Clause
// What a caller hears of the work, how it ends it, and that the serial executor keeps its word.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/base/stop.hpp"

namespace loom {
namespace {

TEST(Observer, WithoutASinkHearsNothingAndIsNoFault) {
  const Observer observer;
  observer.warn("a");
  stop_if_asked(observer);
  stop_if_asked(nullptr);
}

TEST(Observer, HearsEveryLevelByItsName) {
  std::vector<std::pair<LogLevel, std::string>> heard;
  Observer observer;
  observer.message = [&](LogLevel level, const std::string& text) {
    heard.emplace_back(level, text);
  };
  observer.info("i");
  observer.warn("w");
  observer.log(LogLevel::kError, "e");
  EXPECT_EQ(heard,
            (std::vector<std::pair<LogLevel, std::string>>{
                {LogLevel::kInfo, "i"}, {LogLevel::kWarning, "w"}, {LogLevel::kError, "e"}}));
}

TEST(StopIfAsked, ThrowsInterruptedOnceTheAnswerIsYesAndNotBefore) {
  bool stop = false;
  Observer observer;
  observer.stop_requested = [&] { return stop; };
  EXPECT_NO_THROW(stop_if_asked(&observer));
  stop = true;
  for (int i = 0; i < 2; ++i) {
    try {
      stop_if_asked(&observer);
      FAIL() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), Status::kInterrupted);
    }
  }
}

TEST(SerialExecutor, EndsAtTheFirstExceptionAndIsUsableAfterIt) {
  SerialExecutor executor;
  std::vector<std::size_t> seen;
  EXPECT_THROW(executor.run(5,
                            [&](std::size_t i) {
                              seen.push_back(i);
                              if (i == 2) throw std::runtime_error("2");
                            }),
               std::runtime_error);
  EXPECT_EQ(seen.size(), 3U);
  executor.run(0, [&](std::size_t i) { seen.push_back(i); });
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(executor.concurrency(), 1U);
}

TEST(SerialExecutor, WaitsForWhatItIsToldToWaitFor) {
  SerialExecutor executor;
  int waited = 0;
  executor.idle([&] { ++waited; });
  EXPECT_EQ(waited, 1);
}

}  // namespace
}  // namespace loom
