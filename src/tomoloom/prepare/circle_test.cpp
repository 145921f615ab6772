// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/circle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tomoloom {
namespace {

TEST(MaskCircle, KeepsWhatIsWithinAndNothingElse) {
  for (const std::size_t n : {16U, 17U}) {
    for (const double ratio : {1.0, 0.8, 0.05, 2.0}) {
      std::vector<float> slice(n * n, 3);
      mask_circle(slice, n, ratio, -1);
      const double middle = (static_cast<double>(n) - 1) / 2;
      for (std::size_t i = 0; i < slice.size(); ++i) {
        const double away =
            std::hypot(static_cast<double>(i % n) - middle, static_cast<double>(i / n) - middle);
        EXPECT_EQ(slice[i], away <= ratio * static_cast<double>(n) / 2 ? 3 : -1) << n << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tomoloom
