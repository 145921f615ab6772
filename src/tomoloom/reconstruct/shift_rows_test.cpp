// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/shift_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/runtime/executors.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kShiftColumns = 50, kShiftRows = 3, kShiftAngles = 37;

/// A bump on a slope, another one at each angle.
double bump_at(std::size_t angle, std::size_t row, double x) {
  const double at = x - 20 - 0.2 * static_cast<double>(angle), width = 4 + static_cast<double>(row);
  return 3 * std::exp(-at * at / (2 * width * width)) + 0.01 * x;
}

std::vector<float> bumps_at(std::size_t angle, const std::vector<double>& shift) {
  std::vector<float> out;
  for (std::size_t r = 0; r < kShiftRows; ++r) {
    for (std::size_t x = 0; x < kShiftColumns; ++x) {
      out.push_back(static_cast<float>(bump_at(angle, r, static_cast<double>(x) - shift[r])));
    }
  }
  return out;
}

TEST(ShiftRows, EachRowMovesByItsOwnAmount) {
  const std::vector<double> shift{0.3, 0, -2.75}, none(kShiftRows, 0);
  std::vector<float> data;
  for (std::size_t a = 0; a < kShiftAngles; ++a) {
    const auto rows = bumps_at(a, none);
    data.insert(data.end(), rows.begin(), rows.end());
  }
  const std::vector<float> before = data;
  std::vector<float> threaded = data;
  SerialExecutor serial;
  shift_rows(data, kShiftColumns, shift, serial);
  const auto threads = make_executor(3);
  shift_rows(threaded, kShiftColumns, shift, *threads);
  EXPECT_EQ(threaded, data);
  for (std::size_t a = 0; a < kShiftAngles; ++a) {
    const auto want = bumps_at(a, shift);
    for (std::size_t i = 0; i < want.size(); ++i) {
      const std::size_t x = i % kShiftColumns, all = a * kShiftRows * kShiftColumns + i;
      if (i / kShiftColumns == 1) {
        EXPECT_EQ(data[all], before[all]);
      } else if (x >= 6 && x + 6 < kShiftColumns) {  // at the ends something else comes in
        EXPECT_NEAR(data[all], want[i], 3e-3) << a << " " << i;
      }
    }
  }
}

TEST(ShiftRows, ThereAndBackIsWhereItWas) {
  std::vector<float> data(kShiftColumns);
  for (std::size_t x = 0; x < kShiftColumns; ++x) {
    data[x] = static_cast<float>(bump_at(10, 0, static_cast<double>(x)));
  }
  const std::vector<float> before = data;
  SerialExecutor serial;
  for (const double shift : {1.0, -1.0}) shift_rows(data, kShiftColumns, {{shift}}, serial);
  for (std::size_t x = 2; x + 2 < kShiftColumns; ++x) EXPECT_NEAR(data[x], before[x], 3e-3) << x;
}

}  // namespace
}  // namespace tomoloom
