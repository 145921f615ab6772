// SPDX-License-Identifier: BSD-3-Clause
#include "loom/base/large_vector.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace loom {
namespace {

TEST(LargeVector, NumbersWithoutAValueAreNotTouched) {
  alignas(float) std::array<unsigned char, sizeof(float)> memory{};
  memory.fill(0x5A);
  UnsetAllocator<float> allocator;
  auto* const place = reinterpret_cast<float*>(memory.data());
  allocator.construct(place);
  std::array<unsigned char, sizeof(float)> after{};
  std::memcpy(after.data(), memory.data(), after.size());
  EXPECT_EQ(after, memory);
  allocator.construct(place, 2.5F);
  EXPECT_EQ(*place, 2.5F);
}

TEST(LargeVector, IsAVectorOtherwise) {
  LargeVector<int> numbers{3, 4};
  numbers.resize(5, 7);
  EXPECT_EQ(numbers, (LargeVector<int>{3, 4, 7, 7, 7}));
  numbers.resize(9);
  EXPECT_EQ(numbers[4], 7);
  const LargeVector<int> moved = std::move(numbers);
  EXPECT_EQ(moved.size(), 9U);
}

}  // namespace
}  // namespace loom
