// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/usage.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "loom/runtime/stop_signal.hpp"

namespace loom {
namespace {

TEST(Usage, PeakMemoryGrowsWithWhatIsTouched) {
  const std::size_t before = peak_memory_bytes();
  const std::vector<char> block(std::size_t{64} << 20, 1);
  EXPECT_GE(peak_memory_bytes(), std::size_t{64} << 20);
  EXPECT_GE(peak_memory_bytes(), before);
  EXPECT_EQ(block.back(), 1);
}

/// For the test below, in a process of its own.
TEST(Usage, DISABLED_TellsThePeak) { std::printf("peak %zu\n", peak_memory_bytes()); }

TEST(Usage, PeakMemoryIsNotThatOfTheProcessThatStartedThisOne) {
  const std::vector<char> block(std::size_t{256} << 20, 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "exec '" + self +
                              "' --gtest_also_run_disabled_tests "
                              "--gtest_filter=Usage.DISABLED_TellsThePeak";
  std::FILE* const from = popen(command.c_str(), "r");
  ASSERT_NE(from, nullptr);
  char line[256];
  std::size_t peak = 0;
  while (std::fgets(line, sizeof line, from) != nullptr) (void)std::sscanf(line, "peak %zu", &peak);
  EXPECT_EQ(pclose(from), 0);
  EXPECT_GT(peak, 0U);
  EXPECT_LT(peak, block.size() / 2);
}

TEST(Usage, LapsAddUpToTheProcessorTime) {
  StageClock clock;
  const double start = cpu_seconds();
  double x = 1;
  while (cpu_seconds() - start < 0.02) x = x * 1.0000001 + 1e-9;
  const StageTime lap = clock.lap();
  EXPECT_GE(lap.cpu_s, 0.02);
  EXPECT_GT(lap.wall_s, 0);
  EXPECT_GT(x, 0);
}

TEST(StopSignal, TheFirstSignalOnlySetsAFlag) {
  catch_stop_signals();
  EXPECT_FALSE(stop_signal_received());
  ASSERT_EQ(std::raise(SIGTERM), 0);
  EXPECT_TRUE(stop_signal_received());
}

TEST(StopSignalDeathTest, TheSecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        catch_stop_signals();
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignalDeathTest, AHangupStopsTooUnlessItIsIgnored) {
  EXPECT_EXIT(
      {
        catch_stop_signals();
        std::raise(SIGHUP);
        std::_Exit(stop_signal_received() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        catch_stop_signals();
        std::raise(SIGHUP);
        std::_Exit(stop_signal_received() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(StopSignalDeathTest, AWriteThatNobodyReadsIsAnErrorAndNoSignal) {
  EXPECT_EXIT(
      {
        ignore_write_signals();
        std::raise(SIGPIPE);
        std::raise(SIGXFSZ);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Usage, ProcessSecondsCountFromTheStartOfTheProcess) {
  const double first = process_seconds();
  EXPECT_GE(first, 0);
  EXPECT_LT(first, 600);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_GE(process_seconds() - first, 0.03);
}

TEST(Usage, ThreadTimeDoesNotGrowInSleep) {
  const double first = thread_cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LT(thread_cpu_seconds() - first, 0.03);
}

}  // namespace
}  // namespace loom
