// SPDX-License-Identifier: BSD-3-Clause
// What all devices share: injected faults, memory that gives itself back, pieces of it; and blocks,
// stages and memory of the emulated one.
#include "loom/device/device.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "loom/base/test_status.hpp"
#include "loom/device/emulated_device.hpp"

namespace loom {
namespace {

using test::status_of;

TEST(InjectedFault, ComesAfterSoManyOperationsOfItsKindAndStays) {
  const auto card = make_emulated_device();
  card->inject({DeviceOperation::kAllocate, 2});
  const DeviceMemory first(*card, 8), second(*card, 8);
  EXPECT_NO_THROW((void)card->info()) << "another operation";
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(status_of([&] { DeviceMemory(*card, 8); }), Status::kDevice);
  card->inject({});
  EXPECT_NO_THROW(DeviceMemory(*card, 8));
}

TEST(InjectedFault, OfAnyKindMeetsEveryOperationAndSaysWhich) {
  const auto card = make_emulated_device();
  const auto stream = card->make_stream();
  card->inject({DeviceOperation::kAny, 0});
  const auto message = [](const std::function<void()>& what) -> std::string {
    try {
      what();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { (void)card->info(); }), "GPU: injected fault in a question");
  EXPECT_EQ(message([&] { DeviceMemory(*card, 8); }), "GPU: injected fault in a allocation");
  EXPECT_EQ(message([&] { run_emulated(*stream, 1, [](long) {}); }),
            "GPU: injected fault in a launch");
  EXPECT_EQ(message([&] { stream->synchronize(); }), "GPU: injected fault in a synchronization");
}

TEST(DeviceMemory, IsGivenBackOnceByWhoeverHasItLast) {
  const auto card = make_emulated_device({.memory_bytes = 1000});
  const auto free_bytes = [&] { return card->info().free_bytes; };
  {
    DeviceMemory a(*card, 600);
    EXPECT_EQ(free_bytes(), 400U);
    EXPECT_EQ(status_of([&] { DeviceMemory(*card, 600); }), Status::kDevice);
    DeviceMemory b = std::move(a);
    EXPECT_EQ(b.bytes(), 600U);
    b = DeviceMemory();
    EXPECT_EQ(free_bytes(), 1000U);
    b = DeviceMemory(*card, 100);
    a = std::move(b);
    EXPECT_EQ(free_bytes(), 900U);
  }
  EXPECT_EQ(free_bytes(), 1000U);
}

TEST(Arena, MeasuresWhatItThenTakes) {
  const auto card = make_emulated_device();
  const auto plan = [](Arena& arena) {
    double* a = arena.take<double>(3);
    char* b = arena.take<char>(1);
    float* c = arena.take<float>(1000);
    return std::vector<std::uintptr_t>{reinterpret_cast<std::uintptr_t>(a),
                                       reinterpret_cast<std::uintptr_t>(b),
                                       reinterpret_cast<std::uintptr_t>(c)};
  };
  Arena measure;
  EXPECT_TRUE(measure.measuring());
  EXPECT_EQ(plan(measure), (std::vector<std::uintptr_t>{0, 0, 0}));
  const DeviceMemory memory(*card, measure.used());
  Arena arena(memory.data(), memory.bytes());
  const auto at = plan(arena);
  for (const std::uintptr_t p : at) EXPECT_EQ(p % 256, 0U);
  EXPECT_GE(at[1], at[0] + 24);
  EXPECT_GT(at[2], at[1]);
  EXPECT_LE(at[2] + 4000, reinterpret_cast<std::uintptr_t>(memory.data()) + memory.bytes());
  EXPECT_EQ(status_of([&] { (void)arena.take<char>(memory.bytes()); }), Status::kInternal);
}

TEST(Arena, ACopyTakesTheSamePiecesAgain) {
  std::vector<double> memory(1000);
  Arena arena(memory.data(), 8000);
  (void)arena.take<double>(10);
  Arena copy = arena;
  EXPECT_EQ(copy.take<double>(4), arena.take<double>(4));
  EXPECT_EQ(copy.left(), arena.left());
  EXPECT_LT(arena.left(), 8000U);
}

TEST(EmulatedBlocks, FinishAPhaseBeforeTheNextAndShareNothingWithOtherBlocks) {
  for (const GridOrder order :
       {GridOrder::kInward, GridOrder::kForward, GridOrder::kBackward, GridOrder::kScattered}) {
    const auto card = make_emulated_device({.threads = 2, .order = order});
    const auto stream = card->make_stream();
    constexpr int kThreads = 16;
    constexpr long kBlocks = 9;
    std::vector<double> sums(kBlocks, 0);
    bool rubbish = true;
    EmulatedBlocks kernel;
    kernel.threads = kThreads;
    kernel.shared_bytes = kThreads * sizeof(double);
    kernel.phases = [] { return 2; };
    kernel.run = [&](int phase, long block, int thread, double* shared) {
      if (phase == 0) {
        if (block == 0) rubbish = rubbish && std::isnan(shared[thread]);
        shared[thread] = static_cast<double>(block);
      } else if (thread == 0) {
        for (int t = 0; t < kThreads; ++t) sums[static_cast<std::size_t>(block)] += shared[t];
      }
    };
    run_emulated_blocks(*stream, kBlocks, kernel);
    EXPECT_EQ(sums[3], 0) << "nothing before it is waited for";
    stream->synchronize();
    EXPECT_TRUE(rubbish);
    for (long b = 0; b < kBlocks; ++b)
      EXPECT_EQ(sums[static_cast<std::size_t>(b)], kThreads * static_cast<double>(b));
  }
}

TEST(EmulatedBlocks, MayNotShareMoreThanABlockHas) {
  const auto card = make_emulated_device({.shared_bytes = 64});
  const auto stream = card->make_stream();
  EmulatedBlocks kernel;
  kernel.phases = [] { return 1; };
  kernel.run = [](int, long, int, double*) {};
  kernel.shared_bytes = 64;
  EXPECT_NO_THROW(run_emulated_blocks(*stream, 1, kernel));
  kernel.shared_bytes = 65;
  EXPECT_EQ(status_of([&] { run_emulated_blocks(*stream, 1, kernel); }), Status::kInternal);
}

TEST(StageTimes, CountStagesAndTheLaunchesInThemInOrderOfFirstAppearance) {
  for (const StreamTiming timing : {StreamTiming::kLazy, StreamTiming::kEager}) {
    const auto card = make_emulated_device({.timing = timing});
    const auto stream = card->make_stream();
    const auto stage = [&](const char* name, int launches) {
      stream->begin_stage(name);
      for (int i = 0; i < launches; ++i) run_emulated(*stream, 3, [](long) {});
      stream->end_stage();
    };
    stage("solve", 2);
    stage("root", 1);
    stage("solve", 3);
    const std::vector<DeviceStageTime> times = stream->take_stage_times();
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(times[0].name, "solve");
    EXPECT_EQ(times[0].count, 2);
    EXPECT_EQ(times[0].launches, 5);
    EXPECT_EQ(times[1].launches, 1);
    EXPECT_GE(times[0].seconds, 0);
    EXPECT_TRUE(stream->take_stage_times().empty()) << "taken";
  }
}

TEST(StageTimes, TellOfTheSideToo) {
  const auto card = make_emulated_device({.timing = StreamTiming::kEager});
  const auto stream = card->make_stream();
  const auto stage = [](Stream& on, const char* name) {
    on.begin_stage(name);
    run_emulated(on, 1, [](long) {});
    on.end_stage();
  };
  stage(*stream, "solve");
  stage(stream->side(), "sweeps");
  stage(*stream, "root");
  const std::vector<DeviceStageTime> times = stream->take_stage_times();
  ASSERT_EQ(times.size(), 3U);
  const DeviceStageTime &solve = times[0], &root = times[1], &sweeps = times[2];
  EXPECT_EQ(sweeps.name, "sweeps");
  EXPECT_EQ(sweeps.launches, 1);
  EXPECT_EQ(solve.begin, 0);
  EXPECT_LE(solve.end, sweeps.begin);
  EXPECT_LE(sweeps.end, root.begin);
  EXPECT_TRUE(stream->take_stage_times().empty()) << "taken";
}

TEST(StageTimes, BeginWithTheFirstAndEndWithTheLastOfAName) {
  const auto sums = sums_of_stages({{"a", 5, 6, 2}, {"b", 6, 9, 1}, {"a", 8, 10, 3}});
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].seconds, 3);
  EXPECT_EQ(sums[0].launches, 5);
  EXPECT_EQ(sums[0].begin, 0);
  EXPECT_EQ(sums[0].end, 5);
  EXPECT_EQ(sums[1].begin, 1);
  EXPECT_EQ(sums[1].end, 4);
  EXPECT_TRUE(sums_of_stages({}).empty());
}

TEST(Cuda, SaysWhyThereIsNoneOrOpensTheFirst) {
  if (cuda_device_count() == 0) {
    EXPECT_FALSE(why_no_cuda().empty());
    EXPECT_EQ(status_of([] { (void)open_cuda_device(0); }), Status::kDevice);
  } else {
    EXPECT_EQ(why_no_cuda(), "");
    EXPECT_FALSE(open_cuda_device(0)->info().emulated);
  }
}

}  // namespace
}  // namespace loom
