// SPDX-License-Identifier: BSD-3-Clause
// The queue between threads; its order is tested in ordered_pool_test.cpp.
#include "loom/runtime/stage_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace loom {
namespace {

TEST(StageQueue, KeepsEqualOrdersInTheOrderOfTheirComing) {
  StageQueue<int> queue;
  for (int i = 0; i < 5; ++i) queue.push(7, i);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(queue.pop(), i);
}

TEST(StageQueue, TakesWhatCanOnlyBeMoved) {
  StageQueue<std::unique_ptr<int>> queue;
  queue.push(1, std::make_unique<int>(5));
  EXPECT_EQ(**queue.pop(), 5);
}

TEST(StageQueue, ClosingWakesEverybodyWhoWaits) {
  StageQueue<int> queue;
  std::atomic<int> ended{0};
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      if (!queue.pop()) ++ended;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  queue.close();
  for (std::thread& t : waiting) t.join();
  EXPECT_EQ(ended, 3);
}

TEST(StageQueue, HandsEveryItemToOneOfManyThreads) {
  StageQueue<int> queue;
  constexpr int kItems = 2000;
  std::vector<std::vector<int>> taken(3);
  std::vector<std::thread> takers, givers;
  for (auto& mine : taken) {
    takers.emplace_back([&queue, &mine] {
      while (const auto item = queue.pop()) mine.push_back(*item);
    });
  }
  for (int g = 0; g < 2; ++g) {
    givers.emplace_back([&queue, g] {
      for (int i = g; i < kItems; i += 2) queue.push(static_cast<std::uint64_t>(i), i);
    });
  }
  for (std::thread& t : givers) t.join();
  queue.close();
  for (std::thread& t : takers) t.join();
  std::vector<int> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kItems));
  for (int i = 0; i < kItems; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace loom
