// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/work_sources.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "loom/batch/memory_budget.hpp"

namespace loom::batch {
namespace {

using namespace std::chrono_literals;

Outcome outcome(std::size_t task, TaskState state) {
  Outcome o;
  o.task = task;
  o.state = state;
  return o;
}

TEST(ListSource, GivesEachTaskOnceInOrder) {
  const TaskList names;
  ListSource source({{2, {}}, {0, {}}, {1, {}}}, names, {});
  for (const std::size_t expected : {2U, 0U, 1U}) {
    const auto unit = source.next();
    ASSERT_TRUE(unit);
    EXPECT_EQ(unit->task, expected);
    EXPECT_EQ(unit->last_part, -1);
    source.finished(outcome(expected, TaskState::kDone));
  }
  EXPECT_FALSE(source.next());
}

TEST(ListSource, OffersWhatAnotherRunHasAgain) {
  const TaskList names;
  ListSource source({{0, {}}}, names, {});
  (void)source.next();
  source.finished(outcome(0, TaskState::kClaimed));
  const auto again = source.next();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->task, 0U);
}

TEST(ListSource, StopsWaitingForAnotherRunWhenAsked) {
  bool stop = false;
  const TaskList names;
  ListSource source({{0, {}}}, names, [&] { return stop; });
  (void)source.next();
  source.finished(outcome(0, TaskState::kClaimed));
  stop = true;
  EXPECT_FALSE(source.next());
}

TEST(ListSource, HoldsATaskBackUntilWhatItNeedsIsDoneAndTellsOfThoseThatCannotBe) {
  TaskList names;
  for (const char* name : {"top", "left", "bottom"}) {
    Task task;
    task.name = name;
    names.add(std::move(task));
  }
  std::vector<Outcome> told;
  ListSource source({{2, {1}}, {1, {0}}, {0, {}}}, names, {},
                    [&](const Outcome& o) { told.push_back(o); });
  EXPECT_EQ(source.next()->task, 0U);
  EXPECT_FALSE(source.next());
  EXPECT_TRUE(source.more_later());
  source.finished(outcome(0, TaskState::kDone));
  EXPECT_EQ(source.next()->task, 1U);
  source.finished(outcome(1, TaskState::kFailed));
  EXPECT_FALSE(source.next());
  EXPECT_FALSE(source.more_later());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].task, 2U);
  EXPECT_EQ(told[0].state, TaskState::kBlocked);
  EXPECT_EQ(told[0].message, "needs left, which is not done");
}

TEST(MemoryBudget, WhatIsKeptForGoodLeavesLessForTasksButAlwaysOne) {
  MemoryBudget budget(1000, 10);
  budget.keep(600);
  budget.keep(200);  // the most counts
  auto first = std::make_optional(budget.reserve(300));
  EXPECT_EQ(budget.used(), 900U);
  auto second = std::async(std::launch::async, [&] { return budget.reserve(200); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  first.reset();
  EXPECT_EQ(second.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_EQ(budget.most_in_flight(), 1U);
}

TEST(MemoryBudget, HoldsTasksBackButNeverTheFirst) {
  MemoryBudget budget(100, 10);
  auto first = budget.reserve(1000);  // larger than all, and alone
  std::atomic<bool> in{false};
  std::thread second([&] {
    const auto share = budget.reserve(60);
    in = true;
  });
  std::this_thread::sleep_for(30ms);
  EXPECT_FALSE(in);
  first = {};
  second.join();
  EXPECT_TRUE(in);
  EXPECT_EQ(budget.used(), 0U);
  EXPECT_EQ(budget.most_in_flight(), 1U);
}

TEST(MemoryBudget, CountsTasksToo) {
  MemoryBudget budget(1000, 2);
  auto a = budget.reserve(1);
  const auto b = budget.reserve(1);
  std::atomic<bool> in{false};
  std::thread third([&] {
    const auto share = budget.reserve(1);
    in = true;
  });
  std::this_thread::sleep_for(30ms);
  EXPECT_FALSE(in);
  a = {};
  third.join();
}

}  // namespace
}  // namespace loom::batch
