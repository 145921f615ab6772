// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "loom/linalg/square_lane.hpp"

namespace loom::lane {
namespace {

using Square = std::vector<double>;

double entry(const Square& s, int row, int column) {
  return s[static_cast<std::size_t>(square_at(row, column))];
}
Square filled(double phase) {
  Square s(kSquare);
  for (int i = 0; i < kSquare; ++i)
    s[static_cast<std::size_t>(square_at(i / kSide, i % kSide))] = std::sin(phase + 1.7 * i);
  return s;
}

TEST(Square, EveryEntryHasAPlace) {
  std::set<int> places;
  for (int i = 0; i < kSquare; ++i) places.insert(square_at(i / kSide, i % kSide));
  EXPECT_EQ(places.size(), 64U);
  EXPECT_EQ(*places.rbegin(), kSquare - 1);
}

/// What half of a warp asks for, four rows by four columns, of 16 banks of doubles.
TEST(Square, WhatIsAskedForAtOnceIsInBanksOfItsOwn) {
  for (int row = 0; row < kSide; row += 4) {
    for (int column = 0; column < kSide; column += 4) {
      std::set<int> banks;
      for (int i = 0; i < 16; ++i) banks.insert(square_at(row + i / 4, column + i % 4) % 16);
      EXPECT_EQ(banks.size(), 16U) << row << " " << column;
    }
  }
}

TEST(Square, ThreadsOfAWarpAddUpTheirPartsOfAProduct) {
  const Square a = filled(0.3), b = filled(2.1), before = filled(4.0);
  const double d[kSide] = {1.0, -2.0, 0.5, 3.0, 0.0, 1.5, -1.0, 7.0};
  Square plain = before, weighed = before;
  for (int thread = 0; thread < 32; ++thread) {
    const SquareThread mine(thread);
    SquarePart one{
        {entry(before, mine.row, mine.column), entry(before, mine.row, mine.column + 1)}};
    SquarePart other = one;
    mine.multiply(one, a.data(), b.data());
    mine.multiply(other, a.data(), d, b.data());
    mine.put(one, plain.data());
    mine.put(other, weighed.data());
  }
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      double want = entry(before, i, j), want_weighed = want;
      for (int k = 0; k < kSide; ++k) {
        want += entry(a, i, k) * entry(b, k, j);
        want_weighed += entry(a, k, i) * d[k] * entry(b, k, j);
      }
      EXPECT_NEAR(entry(plain, i, j), want, 1e-14) << i << " " << j;
      EXPECT_NEAR(entry(weighed, i, j), want_weighed, 1e-13) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace loom::lane
