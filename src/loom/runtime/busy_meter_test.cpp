// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/busy_meter.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace loom {
namespace {

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

TEST(BusyMeter, CountsNothingWhileNobodyIsBusy) {
  BusyMeter meter;
  nap();
  EXPECT_EQ(meter.seconds(), 0);
  { const BusyMeter::Scope scope(meter); }
  const double after = meter.seconds();
  nap();
  EXPECT_EQ(meter.seconds(), after);
}

TEST(BusyMeter, GrowsByEveryThreadThatIsBusyAtOnce) {
  using Clock = std::chrono::steady_clock;
  BusyMeter meter;
  const auto start = Clock::now();
  {
    const BusyMeter::Scope one(meter), two(meter), three(meter);
    nap();
    const double passed = std::chrono::duration<double>(Clock::now() - start).count();
    const double counted = meter.seconds();
    EXPECT_GE(counted, 3 * 0.0099) << "a nap is at least as long as it says";
    EXPECT_LE(counted, 3 * (passed + 1.0)) << "a wide guard: the machine may be busy";
  }
  const double all = std::chrono::duration<double>(Clock::now() - start).count();
  EXPECT_LE(meter.seconds(), 3 * all);
}

TEST(BusyMeter, IsBackAtNobodyAfterManyThreads) {
  BusyMeter meter;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) const BusyMeter::Scope scope(meter);
    });
  }
  for (std::thread& t : threads) t.join();
  const double after = meter.seconds();
  nap();
  EXPECT_EQ(meter.seconds(), after);
}

}  // namespace
}  // namespace loom
