// SPDX-License-Identifier: BSD-3-Clause
// Which folders are asked for a limit, in a /proc and /sys of our own. What the limits of threads
// and memory are is tested in thread_count_test.cpp and memory_limit_test.cpp.
#include "loom/runtime/cgroup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

namespace loom {
namespace {

namespace fs = std::filesystem;

class Cgroups : public testing::Test {
 protected:
  fs::path root_ = fs::path(testing::TempDir()) / ("cgroups-" + std::to_string(::getpid()));
  std::map<std::string, double> limits_;  // by folder below root_
  std::vector<std::string> asked_;

  void SetUp() override { fs::create_directories(root_ / "proc/self"); }
  void TearDown() override { fs::remove_all(root_); }
  void belong_to(const std::string& lines) { std::ofstream(root_ / "proc/self/cgroup") << lines; }
  CgroupLimit version(const std::string& name) {
    return [this, name](const std::string& folder) -> std::optional<double> {
      const std::string below = folder.substr(root_.string().size());
      asked_.push_back(name + below);
      const auto found = limits_.find(below);
      return found == limits_.end() ? std::nullopt : std::optional<double>(found->second);
    };
  }
  std::optional<double> limit() {
    return smallest_cgroup_limit(root_.string(), "memory", version("2:"), version("1:"));
  }
};

TEST_F(Cgroups, WithoutAFileThereIsNoLimit) {
  EXPECT_EQ(limit(), std::nullopt);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(Cgroups, EveryParentIsAskedUpToTheRoot) {
  belong_to("0::/slurm/job_7/step_0\n");
  EXPECT_EQ(limit(), std::nullopt);
  EXPECT_EQ(asked_, (std::vector<std::string>{"2:/sys/fs/cgroup/slurm/job_7/step_0",
                                              "2:/sys/fs/cgroup/slurm/job_7",
                                              "2:/sys/fs/cgroup/slurm", "2:/sys/fs/cgroup"}));
}

TEST_F(Cgroups, TheSmallestOfAGroupAndItsParentsHolds) {
  belong_to("0::/a/b\n");
  limits_ = {{"/sys/fs/cgroup/a/b", 8}, {"/sys/fs/cgroup/a", 3}};
  EXPECT_EQ(limit(), 3);
  limits_["/sys/fs/cgroup/a"] = 20;
  EXPECT_EQ(limit(), 8);
}

TEST_F(Cgroups, OfTheFirstVersionTheControllersOwnHierarchyCounts) {
  belong_to("5:cpu,cpuacct:/c\n4:memory:/m\n3:memory_pressure:/p\n0::/u\n");
  limits_ = {{"/sys/fs/cgroup/memory/m", 6},
             {"/sys/fs/cgroup/memory/c", 1},
             {"/sys/fs/cgroup/memory/p", 2}};
  EXPECT_EQ(limit(), 6);
  limits_["/sys/fs/cgroup/u"] = 5;  // both hold
  EXPECT_EQ(limit(), 5);
}

TEST_F(Cgroups, LinesThatAreNoneAreLeftOut) {
  belong_to("\nnonsense\n1:memory\n2:memory:relative\n0::/good\n");
  limits_ = {{"/sys/fs/cgroup/good", 4}};
  EXPECT_EQ(limit(), 4);
}

TEST_F(Cgroups, TheRootGroupIsAskedOnce) {
  belong_to("0::/\n");
  limits_ = {{"/sys/fs/cgroup/", 2}};
  EXPECT_EQ(limit(), 2);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(Cgroups, FirstLineIsThatOfAFileThatHasOne) {
  belong_to("one\ntwo\n");
  EXPECT_EQ(first_line((root_ / "proc/self/cgroup").string()), "one");
  EXPECT_EQ(first_line((root_ / "none").string()), std::nullopt);
  belong_to("");
  EXPECT_EQ(first_line((root_ / "proc/self/cgroup").string()), std::nullopt);
}

}  // namespace
}  // namespace loom
