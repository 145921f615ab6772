// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/image_names.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "loom/base/print.hpp"

namespace tomoloom {
namespace {

using Names = std::vector<std::string>;

Names counted(const char* format, int first, int end, int step = 1) {
  Names names;
  for (int i = first; i < end; i += step) names.push_back(print(format, i));
  return names;
}

TEST(ImageNames, OfSeveralKindsAreTold) {
  Names names = counted("p_%04d.tif", 1, 91);
  EXPECT_EQ(kinds_of_names(names), "");
  names.emplace_back("flat.tif");
  EXPECT_EQ(kinds_of_names(names), "1 flat.tif, 90 p_#.tif");
  for (const char* other : {"dark_1.tif", "a.tif"}) names.emplace_back(other);
  EXPECT_EQ(kinds_of_names(names), "1 a.tif, 1 dark_#.tif, 1 flat.tif ...");
  EXPECT_EQ(kinds_of_names(Names{"aa.tif", "ab.tif", "ac.tif"}), "");
  EXPECT_EQ(kinds_of_names(Names{"p_-2.tif", "p_-1.tif", "p_0.tif"}), "1 p_#.tif, 2 p_-#.tif");
}

TEST(ImageNames, WithNumbersLeftOutAreTold) {
  Names names = counted("s3_%d_a1.tif", 98, 160);
  EXPECT_EQ(numbers_left_out(names), "");
  names.erase(names.begin() + 20, names.begin() + 22);
  EXPECT_EQ(numbers_left_out(names),
            "2 of the numbers from 98 to 159 in names, the first of them 118");
  names.erase(names.begin() + 40);
  EXPECT_EQ(numbers_left_out(names),
            "3 of the numbers from 98 to 159 in names, the first of them 118");
}

TEST(ImageNames, ThatDoNotCountInEvenStepsLackNothing) {
  EXPECT_EQ(numbers_left_out(counted("p%d.tif", 0, 900, 10)), "");
  EXPECT_EQ(numbers_left_out(Names{"p1.tif", "p2.tif", "p4.tif", "p8.tif"}), "");
  EXPECT_EQ(numbers_left_out(Names{"p0.0.tif", "p0.5.tif", "p1.0.tif", "p1.5.tif"}), "");
  EXPECT_EQ(numbers_left_out(Names{"a.tif", "b.tif", "c.tif"}), "");
  EXPECT_EQ(numbers_left_out(Names{"a7.tif", "a8.tif", "b0.tif", "b1.tif", "b3.tif"}), "");
  EXPECT_EQ(numbers_left_out(Names{"1.tif", "01.tif", "001.tif", "2.tif"}), "");
  EXPECT_EQ(numbers_left_out(
                Names{"20260101120000123.tif", "20260101120001456.tif", "20260101120002111.tif"}),
            "");
}

}  // namespace
}  // namespace tomoloom
