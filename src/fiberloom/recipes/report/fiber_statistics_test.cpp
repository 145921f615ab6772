// SPDX-License-Identifier: BSD-3-Clause
// Fibres whose light and noise are known.
#include "fiberloom/recipes/report/fiber_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fiberloom::report {
namespace {

/// `nspec` fibres of sky lines and a continuum each of its own; fibre s gets share[s] of the lines.
FrameFile with_lines(const std::vector<double>& share, double read_noise = 4) {
  constexpr std::size_t kWave = 1200;
  FrameFile frame;
  frame.flux = Array2D<double>(share.size(), kWave);
  frame.ivar = Array2D<double>(share.size(), kWave);
  frame.mask = Array2D<std::uint32_t>(share.size(), kWave, 0);
  std::mt19937_64 random(5);
  std::normal_distribution<double> gauss(0.0, 1.0);
  for (std::size_t j = 0; j < kWave; ++j) frame.wave.push_back(5000 + static_cast<double>(j));
  for (std::size_t s = 0; s < share.size(); ++s) {
    for (std::size_t j = 0; j < kWave; ++j) {
      const double line = j % 60 < 2 ? 400.0 : 0.0;
      const double f = 20 + 3 * static_cast<double>(s % 7) + share[s] * line;
      frame.ivar(s, j) = 1 / (f + read_noise * read_noise);
      frame.flux(s, j) = f + gauss(random) / std::sqrt(frame.ivar(s, j));
    }
  }
  return frame;
}

TEST(LineLight, IsTheShareOfTheMedianFibreWhateverTheContinuum) {
  std::vector<double> share(30, 1.0);
  share[4] = 0.4;
  share[9] = 0;
  share[20] = 1.5;
  const FrameFile frame = with_lines(share);

  const auto light = line_light(frame, bin_flags(frame));

  for (const std::size_t s : {0U, 4U, 9U, 20U}) {
    EXPECT_NEAR(light[s].ratio, share[s], 5 * light[s].error + 0.02) << s;
    EXPECT_LT(light[s].error, 0.03);
  }
}

TEST(LineLight, IsUnknownWhereThereAreNoLinesOrTooFewFibres) {
  FrameFile frame = with_lines(std::vector<double>(10, 0.0));
  EXPECT_TRUE(std::isnan(line_light(frame, bin_flags(frame))[0].ratio));
  frame = with_lines({1, 1, 1});
  EXPECT_TRUE(std::isnan(line_light(frame, bin_flags(frame))[0].ratio));
}

TEST(FiberStatistics, CountFlagsAndTakeMediansOfWhatIsLeft) {
  FrameFile frame = with_lines(std::vector<double>(6, 1.0));
  for (std::size_t j = 0; j < 100; ++j) frame.mask(2, j) = kAllBadPix;
  for (std::size_t j = 100; j < 110; ++j) frame.mask(2, j) = kBad2dFit;
  for (std::size_t j = 0; j < 1200; ++j) frame.ivar(5, j) = 0;

  const auto table = fiber_statistics(frame, bin_flags(frame), {});

  EXPECT_EQ(table[2].rejected, 100u);
  EXPECT_EQ(table[2].bad_fit, 10u);
  EXPECT_NEAR(table[2].snr, 26 / std::sqrt(26 + 16.0), 0.3);
  EXPECT_EQ(table[5].rejected, 1200u);
  EXPECT_TRUE(std::isnan(table[5].snr));
  EXPECT_TRUE(std::isnan(table[0].chi2));
  EXPECT_TRUE(std::isnan(table[0].width));
}

TEST(SkyPulls, AreOneWideForOneSkyAndWiderForTwo) {
  FrameFile frame = with_lines(std::vector<double>(12, 1.0));
  for (std::size_t s = 0; s < 12; ++s) {  // one sky: take the continua of their own off
    for (std::size_t j = 0; j < 1200; ++j) frame.flux(s, j) -= 3 * static_cast<double>(s % 7);
  }
  std::vector<std::size_t> sky;
  for (std::size_t s = 0; s < 12; ++s) sky.push_back(s);
  const auto flags = bin_flags(frame);
  EXPECT_NEAR(sky_pulls(frame, flags, sky).core_width(), 1.0, 0.03);

  for (std::size_t s = 0; s < 6; ++s) {  // half of them see another slope
    for (std::size_t j = 0; j < 1200; ++j) frame.flux(s, j) += 0.1 * static_cast<double>(j);
  }
  EXPECT_GT(sky_pulls(frame, flags, sky).core_width(), 1.2);
  EXPECT_EQ(sky_pulls(frame, flags, {0, 1}).size(), 0u) << "two fibres tell nothing";
}

TEST(FlagBright, LeavesTheQuietestThirdOfEachSpectrum) {
  const FrameFile frame = with_lines({1, 1});
  auto flags = bin_flags(frame);
  flags(0, 7) = kFlagSomeBad;
  const auto out = flag_bright(frame, flags);
  EXPECT_EQ(out(0, 60), kFlagOther) << "a line";
  EXPECT_EQ(out(0, 30), 0);
  EXPECT_EQ(out(0, 7), kFlagSomeBad | kFlagOther);
}

TEST(NoiseRatio, IsOneForPhotonsAndReadNoise) {
  FrameFile frame = with_lines(std::vector<double>(10, 1.0), 4);
  EXPECT_NEAR(noise_ratio(frame, bin_flags(frame), 4, 1), 1.0, 0.02);
  for (std::size_t i = 0; i < frame.ivar.size(); ++i) frame.ivar.data()[i] *= 9;
  EXPECT_NEAR(noise_ratio(frame, bin_flags(frame), 4, 1), 3.0, 0.06);
  for (std::size_t i = 0; i < frame.ivar.size(); ++i) frame.ivar.data()[i] = 0;
  EXPECT_TRUE(std::isnan(noise_ratio(frame, bin_flags(frame), 4, 1)));
}

}  // namespace
}  // namespace fiberloom::report
