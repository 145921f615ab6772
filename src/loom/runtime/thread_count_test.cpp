// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/thread_count.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace loom {
namespace {

namespace fs = std::filesystem;

Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto it = values.find(name);
    if (it == values.end()) return std::nullopt;
    return it->second;
  };
}

class FakeRoot {
 public:
  FakeRoot() : path_(fs::path(testing::TempDir()) / "fiberloom_cgroup") { fs::remove_all(path_); }
  ~FakeRoot() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    const fs::path file = path_.string() + name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string str() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(ThreadCount, IsTheSmallestLimit) {
  EXPECT_EQ(thread_count({.affinity = 8, .cgroup_quota = {}, .slurm_cpus = {}}), 8U);
  EXPECT_EQ(thread_count({.affinity = 8, .cgroup_quota = 2.5, .slurm_cpus = {}}), 3U);
  EXPECT_EQ(thread_count({.affinity = 8, .cgroup_quota = 0.2, .slurm_cpus = {}}), 1U);
  EXPECT_EQ(thread_count({.affinity = 8, .cgroup_quota = {}, .slurm_cpus = 4}), 4U);
  EXPECT_EQ(thread_count({.affinity = 2, .cgroup_quota = {}, .slurm_cpus = 4}), 2U);
}

TEST(ThreadCount, OfTheOneRankThatWorksIsThatOfAll) {
  const auto all = [](ThreadLimits limits) { return thread_count_of_all_ranks(limits); };
  EXPECT_EQ(all({.affinity = 8, .cgroup_quota = {}, .slurm_cpus = {}, .local_ranks = 4}), 8U);
  EXPECT_EQ(all({.affinity = 64, .cgroup_quota = {}, .slurm_cpus = 2, .local_ranks = 4}), 8U);
  EXPECT_EQ(all({.affinity = 1, .cgroup_quota = {}, .slurm_cpus = 2, .local_ranks = 4}), 1U);
}

TEST(ThreadCount, IsDividedAmongTheRanksOfTheMachine) {
  EXPECT_EQ(thread_count({.affinity = 8, .cgroup_quota = {}, .slurm_cpus = {}, .local_ranks = 3}),
            2U);
  EXPECT_EQ(thread_count({.affinity = 2, .cgroup_quota = {}, .slurm_cpus = {}, .local_ranks = 9}),
            1U);
  EXPECT_EQ(thread_count({.affinity = 64, .cgroup_quota = {}, .slurm_cpus = 16, .local_ranks = 4}),
            16U)
      << "Slurm's number is a rank's own";
}

TEST(ThreadLimits, ReadTheEnvironment) {
  const auto limits = find_thread_limits(
      environment({{"SLURM_CPUS_PER_TASK", "6"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
      "/nonexistent");
  EXPECT_EQ(limits.slurm_cpus, 6U);
  EXPECT_EQ(limits.local_ranks, 2U);
  EXPECT_FALSE(limits.cgroup_quota);
  EXPECT_GE(limits.affinity, 1U);
}

TEST(ThreadLimits, IgnoreNonsenseInTheEnvironment) {
  const auto limits = find_thread_limits(
      environment({{"SLURM_CPUS_PER_TASK", "many"}, {"SLURM_NTASKS_PER_NODE", "0"}}),
      "/nonexistent");
  EXPECT_FALSE(limits.slurm_cpus);
  EXPECT_EQ(limits.local_ranks, 1U);
}

TEST(ThreadLimits, ReadACgroupVersion2QuotaAndItsParents) {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/slice/job\n");
  root.write("/sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  root.write("/sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  EXPECT_EQ(find_thread_limits(environment({}), root.str()).cgroup_quota, 1.5);
}

TEST(ThreadLimits, ReadACgroupVersion1Quota) {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "4:cpuset:/job\n3:cpu,cpuacct:/job\n");
  root.write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "400000\n");
  root.write("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(find_thread_limits(environment({}), root.str()).cgroup_quota, 4.0);
}

}  // namespace
}  // namespace loom
