// SPDX-License-Identifier: BSD-3-Clause
// The emulated card must show what it is there to show: each mistake is made here.
#include "loom/device/emulated_device.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace loom {
namespace {

constexpr long kThreads = 37;
constexpr std::size_t kBytes = kThreads * sizeof(double);

/// What a kernel leaves in which every thread adds its left neighbour's number: a race.
std::vector<double> race(GridOrder order) {
  const auto card = make_emulated_device({.order = order});
  const DeviceMemory memory(*card, kBytes);
  const HostMemory host(*card, kBytes);
  const auto stream = card->make_stream();
  auto* data = static_cast<double*>(memory.data());
  stream->zero(data, kBytes);
  run_emulated(*stream, kThreads, [data](long i) { data[i] = i == 0 ? 1.0 : data[i - 1] + 1.0; });
  stream->copy_out(host.data(), data, kBytes);
  stream->synchronize();
  const auto* values = static_cast<const double*>(host.data());
  return {values, values + kThreads};
}

TEST(EmulatedDevice, EveryOrderRunsEachThreadOnceAndARaceShowsInAllOfThem) {
  const std::vector<double> forward = race(GridOrder::kForward);
  for (const GridOrder order : {GridOrder::kBackward, GridOrder::kInward, GridOrder::kScattered}) {
    EXPECT_NE(race(order), forward);
    std::vector<int> runs(kThreads, 0);
    const auto card = make_emulated_device({.threads = 3, .order = order});
    const auto stream = card->make_stream();
    run_emulated(*stream, kThreads, [&runs](long i) { ++runs[static_cast<std::size_t>(i)]; });
    stream->synchronize();
    EXPECT_EQ(runs, std::vector<int>(kThreads, 1));
  }
}

TEST(EmulatedDevice, DoesNothingBeforeItIsWaitedForSoThatAMissingWaitShows) {
  const auto card = make_emulated_device();
  const DeviceMemory memory(*card, kBytes);
  const HostMemory host(*card, kBytes);
  const auto stream = card->make_stream();
  auto* value = static_cast<double*>(host.data());
  *value = 1;
  stream->copy_in(memory.data(), value, sizeof *value);
  *value = 2;  // reused too early
  stream->copy_out(value, memory.data(), sizeof *value);
  EXPECT_EQ(*value, 2);  // read too early
  stream->synchronize();
  EXPECT_EQ(*value, 2);  // the copy in saw what was written behind its back
}

/// In which order the work of a stream (small letters) and its side (capitals) runs that begins
/// with a, forks, and joins before d.
std::string order_of(StreamTiming timing, bool forks, bool joins) {
  const auto card = make_emulated_device({.timing = timing});
  const auto stream = card->make_stream();
  Stream& side = stream->side();
  std::string order;
  const auto note = [&order](Stream& on, char name) {
    run_emulated(on, 1, [&order, name](long) { order += name; });
  };
  note(*stream, 'a');
  if (forks) side.wait_for(*stream);
  note(side, 'B');
  note(*stream, 'c');
  if (joins) stream->wait_for(side);
  note(side, 'X');  // after the join: nobody waits for it
  note(*stream, 'd');
  stream->synchronize();
  return order;
}

TEST(EmulatedDevice, RunsASideAsLateOrAsEarlyAsItMayOrAtOnceSoThatAMissingWaitShows) {
  EXPECT_EQ(order_of(StreamTiming::kLazy, true, true), "acBd");
  EXPECT_EQ(order_of(StreamTiming::kLazy, true, false), "acd") << "read too early";
  EXPECT_EQ(order_of(StreamTiming::kEager, true, true), "aBcXd");
  EXPECT_EQ(order_of(StreamTiming::kSideFirst, true, true), "aBXcd");
  EXPECT_EQ(order_of(StreamTiming::kSideFirst, false, true), "BXacd") << "begun too early";
  const auto card = make_emulated_device();
  const auto stream = card->make_stream();
  std::string order;
  run_emulated(*stream, 1, [&order](long) { order += 'a'; });
  run_emulated(stream->side(), 1, [&order](long) { order += 'B'; });
  stream->side().synchronize();
  EXPECT_EQ(order, "B") << "does not wait";
  EXPECT_EQ(&stream->side(), &stream->side());
  stream->wait_for(*stream);  // as it does anyway
  stream->synchronize();
  EXPECT_EQ(order, "Ba");
}

TEST(EmulatedDevice, ASideThatIsWaitedForFirstHasItsOwnWaits) {
  const auto card = make_emulated_device();
  const auto stream = card->make_stream();
  std::string order;
  run_emulated(*stream, 1, [&order](long) { order += 'a'; });
  stream->side().wait_for(*stream);
  run_emulated(*stream, 1, [&order](long) { order += 'c'; });
  run_emulated(stream->side(), 1, [&order](long) { order += 'B'; });
  stream->side().synchronize();
  EXPECT_EQ(order, "aB");
  stream->synchronize();
  EXPECT_EQ(order, "aBc");
}

TEST(EmulatedDevice, FillsFreshMemoryWithRubbishAlsoWhereItIsUsedAgain) {
  const auto card = make_emulated_device();
  const DeviceMemory memory(*card, std::size_t{1} << 18);
  const HostMemory host(*card, kBytes);
  const auto stream = card->make_stream();
  auto* value = static_cast<double*>(host.data());
  const auto first_of = [&](Arena arena) {
    stream->copy_out(value, arena.take<double>(4), sizeof *value);
    stream->synchronize();
    return *value;
  };
  const Arena arena(memory.data(), memory.bytes(), stream.get());
  EXPECT_TRUE(std::isnan(first_of(arena)));
  stream->zero(memory.data(), 32);
  EXPECT_TRUE(std::isnan(first_of(arena)));
}

TEST(EmulatedDevice, RefusesCopiesOfMemoryThatIsNotPageLocked) {
  const auto card = make_emulated_device();
  const DeviceMemory memory(*card, kBytes);
  const auto stream = card->make_stream();
  std::vector<double> pageable(4);
  EXPECT_THROW(stream->copy_in(memory.data(), pageable.data(), 8), Error);
  EXPECT_THROW(stream->copy_out(pageable.data(), memory.data(), 8), Error);
}

TEST(EmulatedDevice, RefusesToTouchWhatIsNotTheCards) {
  const auto card = make_emulated_device();
  const DeviceMemory memory(*card, kBytes);
  const HostMemory host(*card, 2 * kBytes);
  const auto stream = card->make_stream();
  EXPECT_THROW(stream->copy_in(memory.data(), host.data(), 2 * kBytes), Error);
  EXPECT_THROW(stream->zero(host.data(), 8), Error);
}

TEST(EmulatedDevice, RefusesAPointerOfTheHostInTheArgumentsOfAKernel) {
  struct {
    int count = 3, other = 22000;  // two numbers side by side are no pointer,
    int width = 1, padding = 0;    // nor is one with rubbish behind it
    const double *good = nullptr, *bad = nullptr;
  } args;
  const auto card = make_emulated_device();
  const DeviceMemory memory(*card, kBytes);
  const auto stream = card->make_stream();
  args.good = static_cast<const double*>(memory.data());
  args.padding = static_cast<int>(reinterpret_cast<std::uintptr_t>(&args) >> 32);
  EXPECT_NO_THROW(refuse_host_pointers(*stream, &args, sizeof args));
  const std::vector<double> of_the_host(1000);
  args.bad = of_the_host.data() + 600;
  EXPECT_THROW(refuse_host_pointers(*stream, &args, sizeof args), Error);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(EmulatedDeviceDeathTest, AKernelThatLeavesItsArrayIsCaughtUnderTheAddressSanitizer) {
  const auto overrun = [] {
    const auto card = make_emulated_device();
    const DeviceMemory memory(*card, std::size_t{1} << 20);
    const auto stream = card->make_stream();
    Arena arena(memory.data(), memory.bytes(), stream.get());
    auto* first = arena.take<double>(10);
    (void)arena.take<double>(10);
    run_emulated(*stream, 11, [first](long i) { first[i] = 1.0; });
    stream->synchronize();
  };
  EXPECT_DEATH(overrun(), "use-after-poison");
}
#endif

}  // namespace
}  // namespace loom
