// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/ordered_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>

#include "loom/runtime/stage_queue.hpp"
#include "loom/runtime/sure_wait.hpp"

namespace loom {
namespace {

using namespace std::chrono_literals;

TEST(SureWait, ALostWakeUpCostsASecond) {
  std::mutex mutex;
  std::condition_variable condition;
  bool ready = false;
  auto waiter = std::async(std::launch::async, [&] {
    std::unique_lock lock(mutex);
    sure_wait(condition, lock, [&] { return ready; });
  });
  std::this_thread::sleep_for(100ms);
  {
    const std::lock_guard lock(mutex);
    ready = true;  // and nobody says so
  }
  const bool woke = waiter.wait_for(20s) == std::future_status::ready;
  condition.notify_all();
  EXPECT_TRUE(woke);
}

TEST(OrderedPool, RunsEveryTaskOnceForAnyNumberOfThreads) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    OrderedPool pool(threads);
    OrderedPool::Job job(pool, 0);
    EXPECT_EQ(job.concurrency(), threads);
    std::vector<int> seen(300, 0);
    job.run(seen.size(), [&](std::size_t i) { ++seen[i]; });
    EXPECT_EQ(seen, std::vector<int>(300, 1));
    job.run(0, [&](std::size_t) { FAIL(); });
  }
}

TEST(OrderedPool, NeverMoreThreadsComputeThanItHas) {
  OrderedPool pool(2);
  std::atomic<int> now{0}, most{0};
  const auto busy = [&] {
    const int n = ++now;
    int seen = most;
    while (n > seen && !most.compare_exchange_weak(seen, n)) {
    }
    std::this_thread::sleep_for(1ms);
    --now;
  };
  std::vector<std::thread> callers;
  for (std::uint64_t order = 0; order < 4; ++order) {
    callers.emplace_back([&, order] {
      OrderedPool::Job job(pool, order);
      busy();  // the caller's own part counts too
      job.run(10, [&](std::size_t) { busy(); });
      busy();
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(most, 2);
}

TEST(OrderedPool, TheOldestJobGoesFirst) {
  OrderedPool pool(1);
  std::mutex mutex;
  std::string log;
  const auto write = [&](char c) {
    const std::lock_guard lock(mutex);
    log += c;
  };
  std::promise<void> release;
  const std::shared_future<void> gate = release.get_future().share();
  std::thread blocker([&] {
    OrderedPool::Job job(pool, 5);
    job.run(1, [&](std::size_t) { gate.wait(); });
  });
  while (pool.busy_seconds() == 0) std::this_thread::sleep_for(1ms);
  const auto start = [&](std::uint64_t order, char c) {
    return std::thread([&, order, c] {
      OrderedPool::Job job(pool, order);
      job.run(3, [&](std::size_t) { write(c); });
    });
  };
  std::thread late = start(9, 'z'), early = start(1, 'a');
  std::this_thread::sleep_for(50ms);  // both wait for the only slot
  release.set_value();
  blocker.join();
  late.join();
  early.join();
  EXPECT_EQ(log, "aaazzz");
}

TEST(OrderedPool, ANewerJobFillsWhatAnOlderOneLeavesIdle) {
  OrderedPool pool(2);
  std::promise<void> newer_ran;
  std::thread older([&] {
    OrderedPool::Job job(pool, 0);
    // One long task: it ends only when the newer job has got the other processor.
    job.run(1, [&](std::size_t) { newer_ran.get_future().wait(); });
  });
  std::thread newer([&] {
    OrderedPool::Job job(pool, 1);
    job.run(1, [&](std::size_t) { newer_ran.set_value(); });
  });
  older.join();
  newer.join();
}

TEST(OrderedPool, RethrowsAndStaysUsable) {
  OrderedPool pool(3);
  OrderedPool::Job job(pool, 0);
  try {
    job.run(50, [](std::size_t i) {
      if (i % 10 == 3) throw std::runtime_error("task " + std::to_string(i));
    });
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "task 3");
  }
  std::atomic<int> count{0};
  job.run(10, [&](std::size_t) { ++count; });
  EXPECT_EQ(count, 10);
}

TEST(OrderedPool, WhoIdlesLendsTheOnlyProcessorToTheOneItWaitsFor) {
  OrderedPool pool(1);
  std::promise<void> idling, done;
  std::thread waiting([&] {
    OrderedPool::Job job(pool, 0);
    job.idle([&] {
      idling.set_value();
      EXPECT_EQ(done.get_future().wait_for(30s), std::future_status::ready);
    });
    EXPECT_THROW(job.idle([] { throw std::runtime_error("stopped"); }), std::runtime_error);
  });
  idling.get_future().wait();
  {
    OrderedPool::Job job(pool, 1);
    job.run(2, [](std::size_t) {});
    done.set_value();
  }
  waiting.join();
  OrderedPool::Job again(pool, 2);  // every slot was given back
}

TEST(OrderedPool, CountsProcessorTimeOfItsTasks) {
  OrderedPool pool(2);
  OrderedPool::Job job(pool, 0);
  job.run(2, [](std::size_t) {
    volatile double x = 1;
    const auto end = std::chrono::steady_clock::now() + 20ms;
    while (std::chrono::steady_clock::now() < end) x = x * 1.0000001;
  });
  EXPECT_GT(job.cpu_seconds(), 0.0);
  EXPECT_GT(pool.busy_seconds(), 0.0);
}

TEST(StageQueue, TheLowestOrderComesOutFirst) {
  StageQueue<int> queue;
  queue.push(3, 30);
  queue.push(1, 10);
  queue.push(2, 20);
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.pop(), 10);
  queue.close();
  EXPECT_EQ(queue.pop(), 20);
  EXPECT_EQ(queue.pop(), 30);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

}  // namespace
}  // namespace loom
