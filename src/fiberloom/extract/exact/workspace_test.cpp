// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/exact/workspace.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace fiberloom::exact {
namespace {

TEST(WorkArena, GivesAlignedPiecesThatDoNotMeet) {
  WorkArena arena;
  std::vector<std::pair<double*, std::size_t>> pieces;
  for (const std::size_t n : {1U, 9U, 1000U, 300000U, 2000000U, 5U}) {
    double* p = arena.take<double>(n);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0U) << n;
    std::fill_n(p, n, static_cast<double>(n));
    pieces.emplace_back(p, n);
  }
  for (const auto& [p, n] : pieces) {
    EXPECT_EQ(std::count(p, p + n, static_cast<double>(n)), static_cast<std::ptrdiff_t>(n));
  }
}

TEST(GrowBuffer, GrowsAndKeepsItsMemoryWhenItShrinks) {
  WorkArena arena;
  for (GrowBuffer<int>* b : {new GrowBuffer<int>(), new GrowBuffer<int>(arena)}) {
    const std::unique_ptr<GrowBuffer<int>> owner(b);
    EXPECT_EQ(b->size(), 0U);
    int* const large = b->resize(100, 3);
    EXPECT_EQ(b->resize(10), large);
    EXPECT_EQ(b->size(), 10U);
    EXPECT_EQ(b->resize(100), large);
    b->resize(1000, 4);
    EXPECT_EQ((*b)[0] + (*b)[999], 8);
    EXPECT_EQ(b->size(), 1000U);
  }
}

TEST(Pool, MakesAsManyAsAreOutAtOnceAndHandsThemOutAgain) {
  Pool<int> pool;
  std::set<int*> seen;
  {
    auto a = pool.take(), b = pool.take();
    *a = 1;
    *b = 2;
    seen = {&*a, &*b};
    EXPECT_EQ(seen.size(), 2U);
  }
  for (int i = 0; i < 3; ++i) {
    auto a = pool.take(), b = pool.take();
    EXPECT_TRUE(seen.contains(&*a) && seen.contains(&*b));
    EXPECT_EQ(*a + *b, 3) << "what was in them is still there";
  }
}

}  // namespace
}  // namespace fiberloom::exact
