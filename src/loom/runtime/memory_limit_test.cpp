// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/memory_limit.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace loom {
namespace {

namespace fs = std::filesystem;

class MemoryLimitFiles : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const {
    const fs::path file = root_.string() + name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] MemoryLimits find() const {
    return find_memory_limits([](const char*) { return std::nullopt; }, root_.string());
  }
  fs::path root_ = fs::path(testing::TempDir()) / "fiberloom_memory_limit";
};

TEST(MemoryShare, IsTwoThirdsOfTheSmallerLimitDividedAmongRanks) {
  EXPECT_EQ(memory_share({.available = 3000, .cgroup = 0, .local_ranks = 1}), 2000U);
  EXPECT_EQ(memory_share({.available = 3000, .cgroup = 900, .local_ranks = 2}), 300U);
  EXPECT_EQ(memory_share({.available = 0, .cgroup = 300, .local_ranks = 1}), 200U);
  EXPECT_EQ(memory_share({.available = 9000, .cgroup = 0, .process = 300, .local_ranks = 2}), 200U)
      << "a limit of the process is its own";
  EXPECT_GT(memory_share({}), 1U << 30);
}

TEST(MemoryLeft, IsUnknownWhereNothingLimits) {
  EXPECT_FALSE(memory_left({}));
  const auto left = memory_left({.available = 3000, .cgroup = 900, .local_ranks = 2});
  ASSERT_TRUE(left);
  EXPECT_EQ(left->bytes, 450U);
  EXPECT_STREQ(left->by, "left to the control group");
}

TEST_F(MemoryLimitFiles, CountsThePageCacheOfAGroupAsFree) {
  write("/proc/self/cgroup", "0::/a\n");
  write("/sys/fs/cgroup/a/memory.max", "500000\n");
  write("/sys/fs/cgroup/a/memory.current", "490000\n");
  write("/sys/fs/cgroup/a/memory.stat",
        "anon 90000\nfile 400000\ninactive_file 250000\nactive_file 150000\n");
  EXPECT_EQ(find().cgroup, 410000U);
}

TEST_F(MemoryLimitFiles, ReadsWhatTheLimitsOfTheProcessLeave) {
  write("/proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max cpu time              unlimited            unlimited            seconds   \n"
        "Max data size             unlimited            unlimited            bytes     \n"
        "Max address space         1024000              unlimited            bytes     \n");
  write("/proc/self/status", "Name:\tx\nVmSize:\t     100 kB\nVmData:\t      10 kB\n");
  EXPECT_EQ(find().process, 900U * 1024);
}

TEST_F(MemoryLimitFiles, TakesTheTighterOfAddressSpaceAndData) {
  write("/proc/self/limits",
        "Max data size             40960                unlimited            bytes     \n"
        "Max address space         1024000              unlimited            bytes     \n");
  write("/proc/self/status", "VmSize:\t     100 kB\nVmData:\t      10 kB\n");
  EXPECT_EQ(find().process, 30U * 1024);
}

TEST_F(MemoryLimitFiles, ReadsTheMachineAndTheTightestGroup) {
  write("/proc/meminfo", "MemTotal: 99 kB\nMemAvailable:   1000 kB\n");
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  write("/sys/fs/cgroup/a/memory.max", "500000\n");
  write("/sys/fs/cgroup/a/memory.current", "100000\n");
  const MemoryLimits limits = find();
  EXPECT_EQ(limits.available, 1024000U);
  EXPECT_EQ(limits.cgroup, 400000U);
}

TEST_F(MemoryLimitFiles, KnowsTheFirstVersionOfControlGroups) {
  write("/proc/self/cgroup", "4:memory:/job\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "700\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(find().cgroup, 700U);
}

TEST_F(MemoryLimitFiles, FindsNothingWhereThereIsNothing) {
  const MemoryLimits limits = find();
  EXPECT_EQ(limits.available, 0U);
  EXPECT_EQ(limits.cgroup, 0U);
  EXPECT_EQ(limits.process, 0U);
}

}  // namespace
}  // namespace loom
