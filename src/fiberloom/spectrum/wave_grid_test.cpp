// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/wave_grid.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"

namespace fiberloom {
namespace {

using test::status_of;

TEST(LinearWaveGrid, IsTheArangeOfThePeers) {
  EXPECT_EQ(linear_wave_grid(5760, 7620, 0.8).size(), 2326U);
  EXPECT_EQ(linear_wave_grid(3600, 3600, 0.8).size(), 1U);
  const auto wave = linear_wave_grid(10, 11, 0.3);  // the end is no multiple: 11.15 is not reached
  ASSERT_EQ(wave.size(), 4U);
  EXPECT_EQ(wave[3], 10 + 3 * 0.3);
  EXPECT_EQ(linear_wave_grid(10, 11, 0.35).size(), 4U) << "half a step beyond the end counts";
}

TEST(LinearWaveGrid, RefusesWhatIsNone) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  for (const auto& [low, high, step] : {std::array{1.0, 2.0, 0.0},
                                        {1.0, 2.0, -1.0},
                                        {2.0, 1.0, 0.1},
                                        {1.0, 2.0, 3.0},
                                        {nan, 2.0, 1.0},
                                        {1.0, inf, 1.0},
                                        {1.0, 2.0, nan},
                                        {1.0, 2.0, inf},
                                        {0.0, 1e7, 0.1}}) {
    EXPECT_EQ(status_of([&] { (void)linear_wave_grid(low, high, step); }), Status::kUsage)
        << low << " " << high << " " << step;
  }
}

TEST(BinWidths, AreTheGradientOfTheGrid) {
  EXPECT_EQ(bin_widths({1, 2, 4, 8}), (std::vector<double>{1, 1.5, 3, 4}));
  EXPECT_EQ(bin_widths({5}), std::vector<double>{1});
  EXPECT_TRUE(bin_widths({}).empty());
}

}  // namespace
}  // namespace fiberloom
