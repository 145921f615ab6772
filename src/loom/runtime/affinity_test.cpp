// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/affinity.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace loom {
namespace {

TEST(Confinement, KeepsAThreadAndThoseItStartsToSomeProcessorsUntilItEnds) {
  const std::vector<int> before = affinity_list();
  ASSERT_FALSE(before.empty());
  {
    const Confinement one(1);
    EXPECT_EQ(affinity_list(), std::vector<int>{before.front()});
    std::vector<int> of_child;
    std::thread([&] { of_child = affinity_list(); }).join();
    EXPECT_EQ(of_child, std::vector<int>{before.front()});
  }
  EXPECT_EQ(affinity_list(), before);
}

TEST(Confinement, LeavesAllProcessorsWhereThereAreNoMore) {
  const std::vector<int> before = affinity_list();
  for (const std::size_t count : {std::size_t{0}, before.size(), before.size() + 1}) {
    const Confinement all(count);
    EXPECT_EQ(affinity_list(), before) << count;
  }
}

}  // namespace
}  // namespace loom
