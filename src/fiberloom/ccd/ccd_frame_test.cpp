// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/ccd/ccd_frame.hpp"

#include <gtest/gtest.h>

namespace fiberloom {
namespace {

TEST(PixelArray, ReadsBothTypesAsDouble) {
  Array2D<float> narrow(2, 3, 0.5F);
  const PixelArray a(std::move(narrow)), b(Array2D<double>(1, 2, 0.1));
  EXPECT_EQ(a.at(1, 2), 0.5);
  EXPECT_EQ(a.rows() * 10 + a.cols(), 23U);
  EXPECT_EQ(b.at(0, 1), 0.1);
}

}  // namespace
}  // namespace fiberloom
