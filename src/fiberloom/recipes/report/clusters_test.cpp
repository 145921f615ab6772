// SPDX-License-Identifier: BSD-3-Clause
// Which flagged bins belong together.
#include "fiberloom/recipes/report/clusters.hpp"

#include <gtest/gtest.h>

namespace fiberloom::report {
namespace {

TEST(Clusters, JoinNeighboursOverSmallGapsAndFromFibreToFibre) {
  Array2D<std::uint8_t> flags(4, 40, 0);
  for (const std::size_t j : {5, 6, 9}) flags(0, j) = 4;  // two bins between 6 and 9
  for (const std::size_t j : {9, 10, 11}) flags(1, j) = 4;
  flags(1, 30) = 4;
  flags(3, 10) = 4;  // fibre 2 is between
  flags(2, 12) = 1;  // another flag

  const auto found = clusters(flags, 4);

  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].bins, 6u);
  EXPECT_EQ(found[0].box.row, 0u);
  EXPECT_EQ(found[0].box.last_row, 1u);
  EXPECT_EQ(found[0].box.first, 5u);
  EXPECT_EQ(found[0].box.last, 11u);
  EXPECT_EQ(found[1].bins, 1u);
  EXPECT_EQ(found[1].box.first, 30u);
  EXPECT_EQ(found[2].box.row, 3u);
}

TEST(Clusters, JoinWhatMeetsOnlyFurtherDown) {
  Array2D<std::uint8_t> flags(3, 60, 0);
  for (std::size_t j = 0; j < 5; ++j) flags(0, j) = flags(0, 40 + j) = 4;  // two legs
  for (std::size_t j = 0; j < 5; ++j) flags(1, j) = flags(1, 40 + j) = 4;
  for (std::size_t j = 2; j < 45; ++j) flags(2, j) = 4;

  const auto found = clusters(flags, 4);

  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].bins, 63u);
  EXPECT_EQ(found[0].box.last, 44u);
}

TEST(Clusters, OfNothingAreNone) { EXPECT_TRUE(clusters({3, 10, 0}, 4).empty()); }

}  // namespace
}  // namespace fiberloom::report
