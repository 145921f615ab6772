// SPDX-License-Identifier: BSD-3-Clause
#include "loom/base/array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace loom {
namespace {

TEST(Buffer, IsAlignedToALineAndALargeOneToAHugePage) {
  for (const std::size_t n : {1U, 7U, 1000U}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Buffer<double>(n).data()) % 64, 0U) << n;
  }
  const std::size_t large = 2 * Buffer<char>::kHugePage;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Buffer<char>(large).data()) % (large / 2), 0U);
}

TEST(Buffer, OfNothingIsEmptyAndMayBeCopiedAndMoved) {
  Buffer<int> none, zero(0);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(zero.data(), nullptr);
  Buffer<int> copy = none;
  copy = std::move(zero);
  EXPECT_EQ(copy.begin(), copy.end());
}

TEST(Buffer, MovesWithoutCopyingAndCopiesWithoutSharing) {
  Buffer<int> a(3, 4);
  const int* const at = a.data();
  Buffer<int> b = std::move(a);
  EXPECT_EQ(b.data(), at);
  EXPECT_EQ(a.size(), 0U);  // NOLINT: what is left behind is empty
  Buffer<int> c(9, 1);
  c = b;
  b.fill(7);
  EXPECT_EQ(std::vector<int>(c.begin(), c.end()), (std::vector<int>{4, 4, 4}));
}

TEST(Array2D, IsRowAfterRow) {
  Array2D<int> a(3, 5);
  std::iota(a.data(), a.data() + a.size(), 0);
  EXPECT_EQ(a(0, 4), 4);
  EXPECT_EQ(a(2, 1), 11);
  EXPECT_EQ(a.row(1), a.data() + 5);
  EXPECT_EQ(a.rows() * a.cols(), a.size());
}

TEST(View2D, SeesAPieceOfAnArrayThroughItsStride) {
  Array2D<int> a(4, 6, 0);
  const View2D<int> all = a.view();
  const View2D<int> piece{&all(1, 2), 2, 3, all.stride};
  for (std::size_t r = 0; r < piece.rows; ++r) {
    for (int& v : piece.row_span(r)) v = 1;
  }
  const View2D<const int> fixed = piece;
  EXPECT_EQ(fixed(1, 2), 1);
  EXPECT_EQ(std::accumulate(a.data(), a.data() + a.size(), 0), 6);
  EXPECT_EQ(a(1, 1) + a(1, 5) + a(3, 2), 0);
  EXPECT_EQ(a(2, 4), 1);
}

TEST(Array3D, IsPlaneAfterPlane) {
  Array3D<int> a(2, 3, 4);
  std::iota(a.data(), a.data() + a.size(), 0);
  EXPECT_EQ(a(0, 0, 3), 3);
  EXPECT_EQ(a(0, 2, 0), 8);
  EXPECT_EQ(a(1, 2, 3), 23);
  EXPECT_EQ(Array3D<int>(2, 2, 2, 5)(1, 1, 1), 5);
}

}  // namespace
}  // namespace loom
