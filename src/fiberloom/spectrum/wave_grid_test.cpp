// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/wave_grid.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

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

TEST(SteppedWaveGrid, StartsAtItsFirstBinAndEndsWithinAStepOfItsLast) {
  const std::vector<double> desi = stepped_wave_grid({.lin_step = 0.8}, 3600, 9824);
  ASSERT_EQ(desi.size(), 7781U) << "(9824 - 3600) / 0.8 is 7780, rounded or not";
  EXPECT_DOUBLE_EQ(desi.back(), 9824);
  const std::vector<double> cut =
      stepped_wave_grid({.lin_step = 3, .wave_min = 4000, .wave_max = 4010}, 3600, 9824);
  EXPECT_EQ(cut, (std::vector<double>{4000, 4003, 4006, 4009}));
  const std::vector<double> log = stepped_wave_grid({.log10_step = 1e-4}, 3600, 9824);
  ASSERT_EQ(log.size(), 4360U);
  EXPECT_NEAR(log.front(), 3600, 1e-9);
  EXPECT_NEAR(log[1000] / log[0], std::pow(10, 0.1), 1e-12);
  EXPECT_LE(log.back(), 9824);
}

TEST(SteppedWaveGrid, RefusesWhatIsNoGrid) {
  const auto refused = [](const SteppedGrid& grid) {
    return loom::test::status_of([&] { (void)stepped_wave_grid(grid, 3600, 9824); }) ==
           Status::kUsage;
  };
  EXPECT_FALSE(refused({.lin_step = 1}));
  EXPECT_TRUE(refused({.lin_step = 1, .log10_step = 1e-4}));
  EXPECT_TRUE(refused({.lin_step = 0}));
  EXPECT_TRUE(refused({.log10_step = -1e-4}));
  EXPECT_TRUE(refused({.lin_step = std::numeric_limits<double>::infinity()}));
  EXPECT_TRUE(refused({.lin_step = 1, .wave_min = 5000, .wave_max = 5000}));
  EXPECT_TRUE(refused({.lin_step = 1, .wave_min = 9900}));
  EXPECT_TRUE(refused({.lin_step = 1, .wave_max = 3500}));
  EXPECT_TRUE(refused({.lin_step = 1, .wave_min = 9824}));
  EXPECT_TRUE(refused({.lin_step = 7000}));
  EXPECT_TRUE(refused({.lin_step = 1e-6}));
  EXPECT_TRUE(refused({.wave_min = 5000}));
}

}  // namespace
}  // namespace fiberloom
