// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/executors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "loom/runtime/capped_executor.hpp"

namespace loom {
namespace {

TEST(MakeExecutor, RunsEveryTaskOnce) {
  for (const std::size_t threads : {1U, 2U, 3U, 8U}) {
    const auto executor = make_executor(threads);
    EXPECT_EQ(executor->concurrency(), threads);
    std::vector<int> seen(1000, 0);
    executor->run(seen.size(), [&](std::size_t i) { ++seen[i]; });
    EXPECT_EQ(seen, std::vector<int>(1000, 1));
  }
}

TEST(MakeExecutor, DoesNothingForNoTasks) {
  make_executor(3)->run(0, [](std::size_t) { FAIL(); });
}

TEST(MakeExecutor, WritesOfTasksAreSeenByTheCaller) {
  const auto executor = make_executor(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::size_t> squares(17);
    executor->run(squares.size(), [&](std::size_t i) { squares[i] = i * i; });
    for (std::size_t i = 0; i < squares.size(); ++i) ASSERT_EQ(squares[i], i * i);
  }
}

TEST(MakeExecutor, RethrowsAnExceptionAfterTheOthersHaveFinished) {
  for (const std::size_t threads : {1U, 2U, 4U}) {
    const auto executor = make_executor(threads);
    std::atomic<int> running{0};
    std::string message;
    try {
      executor->run(64, [&](std::size_t i) {
        ++running;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        --running;
        if (i == 5) throw std::runtime_error("task 5");
      });
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(running, 0);
      message = error.what();
    }
    EXPECT_EQ(message, "task 5");
    std::atomic<int> done{0};
    executor->run(10, [&](std::size_t) { ++done; });
    EXPECT_EQ(done, 10) << "usable after an exception";
  }
}

TEST(MakeExecutor, NestedRunsFinish) {
  const auto executor = make_executor(3);
  std::vector<std::vector<int>> seen(7, std::vector<int>(11, 0));
  executor->run(seen.size(), [&](std::size_t i) {
    executor->run(seen[i].size(), [&](std::size_t j) {
      executor->run(2, [&, j](std::size_t k) {
        if (k == 0) ++seen[i][j];
      });
    });
  });
  EXPECT_EQ(seen, (std::vector<std::vector<int>>(7, std::vector<int>(11, 1))));
}

TEST(MakeExecutor, AnExceptionOfANestedRunReachesTheOuterCaller) {
  const auto executor = make_executor(2);
  EXPECT_THROW(executor->run(4,
                             [&](std::size_t i) {
                               executor->run(4, [&](std::size_t j) {
                                 if (i == 2 && j == 3) throw std::logic_error("inner");
                               });
                             }),
               std::logic_error);
}

TEST(MakeExecutor, SeveralCallersMayShareIt) {
  const auto executor = make_executor(3);
  std::atomic<int> done{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) executor->run(9, [&](std::size_t) { ++done; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(done, 4 * 50 * 9);
}

TEST(MakeExecutor, TwoThreadsReallyRunTogether) {
  const auto executor = make_executor(2);
  std::atomic<int> arrived{0};
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  executor->run(2, [&](std::size_t) {
    ++arrived;
    while (arrived < 2 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(CappedExecutor, RunsEveryTaskOnceAndNeverMoreAtOnceThanItMay) {
  const auto inner = make_executor(6);
  CappedExecutor capped(*inner, 2);
  EXPECT_EQ(capped.concurrency(), 2U);
  EXPECT_EQ(CappedExecutor(*inner, 9).concurrency(), 6U);
  std::vector<int> seen(200, 0);
  std::atomic<int> running{0}, most{0};
  capped.run(seen.size(), [&](std::size_t i) {
    const int now = ++running;
    int known = most;
    while (known < now && !most.compare_exchange_weak(known, now)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    ++seen[i];
    --running;
  });
  EXPECT_EQ(seen, std::vector<int>(200, 1));
  EXPECT_LE(most, 2);
}

TEST(CappedExecutor, RethrowsAnException) {
  const auto inner = make_executor(3);
  CappedExecutor capped(*inner, 2);
  EXPECT_THROW(capped.run(50,
                          [](std::size_t i) {
                            if (i == 7) throw std::runtime_error("task 7");
                          }),
               std::runtime_error);
  std::atomic<int> done{0};
  capped.run(5, [&](std::size_t) { ++done; });
  EXPECT_EQ(done, 5);
}

TEST(MakeExecutor, TakesTheDefaultForZero) { EXPECT_GE(make_executor(0)->concurrency(), 1U); }

}  // namespace
}  // namespace loom
