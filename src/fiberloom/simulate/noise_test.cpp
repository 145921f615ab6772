// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fiberloom/simulate/defects.hpp"
#include "loom/base/error.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom {
namespace {

class PoissonMoments : public testing::TestWithParam<double> {};

TEST_P(PoissonMoments, AgreeWithTheDistribution) {
  const double mu = GetParam();
  const CounterRng rng(11, 5);
  constexpr std::uint64_t n = 400000;
  double m1 = 0, m2 = 0, m3 = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const double d = poisson(mu, rng, i) - mu;
    m1 += d;
    m2 += d * d;
    m3 += d * d * d;
  }
  m1 /= n, m2 /= n, m3 /= n;
  // Five standard errors; the moments of order 4 and 6 of a Poisson variable give the errors.
  const double mu4 = mu + 3 * mu * mu;
  const double mu6 = mu + 25 * mu * mu + 15 * mu * mu * mu;
  EXPECT_NEAR(m1, 0.0, 5 * std::sqrt(mu / n));
  EXPECT_NEAR(m2, mu, 5 * std::sqrt((mu4 - mu * mu) / n));
  EXPECT_NEAR(m3, mu, 5 * std::sqrt((mu6 - mu * mu) / n));
}

INSTANTIATE_TEST_SUITE_P(Means, PoissonMoments,
                         testing::Values(0.01, 0.7, 4.0, 9.99, 10.0, 31.0, 400.0, 30000.0));

TEST(Poisson, HasTheRightProbabilitiesOnBothSidesOfTheSwitch) {
  for (const double mu : {9.5, 10.5}) {
    const CounterRng rng(3, 9);
    constexpr int n = 400000;
    std::vector<int> count(60, 0);
    for (int i = 0; i < n; ++i) {
      ++count[static_cast<std::size_t>(poisson(mu, rng, static_cast<std::uint64_t>(i)))];
    }
    double chi2 = 0, p = std::exp(-mu);
    int cells = 0;
    for (std::size_t k = 0; k < count.size(); p *= mu / static_cast<double>(++k)) {
      if (n * p < 20) continue;
      const double d = count[k] - n * p;
      chi2 += d * d / (n * p);
      ++cells;
    }
    EXPECT_NEAR(chi2, cells, 5 * std::sqrt(2.0 * cells)) << mu;
  }
}

TEST(Poisson, IsZeroForAMeanThatIsNotPositive) {
  const CounterRng rng(1, 1);
  EXPECT_EQ(poisson(0, rng, 3), 0.0);
  EXPECT_EQ(poisson(-5, rng, 3), 0.0);
}

Array2D<double> ramp(std::size_t rows, std::size_t cols) {
  Array2D<double> mean(rows, cols);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    mean.data()[i] = 0.01 * static_cast<double>(i % 9973);
  }
  return mean;
}

TEST(AddNoise, HasPullsOfUnitWidth) {
  const Array2D<double> mean = ramp(500, 401);
  SerialExecutor serial;
  const NoisyFrame frame = add_noise(mean, {}, serial);
  double sum = 0, sum2 = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double pull =
        (frame.image.data()[i] - mean.data()[i]) * std::sqrt(double{frame.ivar.data()[i]});
    sum += pull;
    sum2 += pull * pull;
  }
  const auto n = static_cast<double>(mean.size());
  EXPECT_NEAR(sum / n, 0.0, 5 / std::sqrt(n));
  EXPECT_NEAR(sum2 / n, 1.0, 5 * std::sqrt(2.1 / n));
}

TEST(AddNoise, TakesTheVarianceFromTheDataWhenAsked) {
  const Array2D<double> mean(20, 20, 50.0);
  NoiseOptions options;
  options.variance = VarianceFrom::kData;
  SerialExecutor serial;
  const NoisyFrame frame = add_noise(mean, options, serial);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double expected = 1.0 / (9.0 + std::max(0.0, double{frame.image.data()[i]}));
    EXPECT_NEAR(frame.ivar.data()[i], expected, 1e-5 * expected);
  }
}

TEST(AddNoise, GivesTheSameBytesForAnyNumberOfThreads) {
  const Array2D<double> mean = ramp(300, 77);
  SerialExecutor serial;
  const NoisyFrame expected = add_noise(mean, {}, serial);
  for (const std::size_t threads : {1U, 2U, 3U}) {
    TestThreads executor(threads);
    const NoisyFrame got = add_noise(mean, {}, executor);
    EXPECT_EQ(std::memcmp(got.image.data(), expected.image.data(), mean.size() * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(got.ivar.data(), expected.ivar.data(), mean.size() * sizeof(float)), 0);
  }
}

TEST(AddNoise, DiffersBetweenSeedsCamerasAndExposures) {
  const Array2D<double> mean(8, 8, 30.0);
  SerialExecutor serial;
  NoiseOptions a, b, c, d;
  b.seed = 2;
  c.owner.camera = 1;
  d.owner.expid = 1;
  const NoisyFrame first = add_noise(mean, a, serial);
  for (const NoiseOptions& other : {b, c, d}) {
    const NoisyFrame frame = add_noise(mean, other, serial);
    EXPECT_NE(std::memcmp(frame.image.data(), first.image.data(), 64 * sizeof(float)), 0);
  }
}

TEST(AddNoise, RefusesAReadNoiseThatIsNotPositive) {
  NoiseOptions options;
  options.readnoise_e = 0;
  SerialExecutor serial;
  EXPECT_THROW(static_cast<void>(add_noise(ramp(2, 2), options, serial)), Error);
}

TEST(Cosmics, FlagWhatTheyTouchAndKeepTheWeights) {
  const Array2D<double> mean(400, 400, 10.0);
  NoisyFrame frame = without_noise(mean, {});
  CosmicOptions options;
  options.tracks_per_ccd = 10000;
  EXPECT_EQ(add_cosmics(frame, options), 94U);
  std::size_t touched = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_GT(frame.ivar.data()[i], 0.0F);
    if (frame.mask.data()[i] != 0) {
      EXPECT_EQ(frame.mask.data()[i], std::uint32_t{kCcdCosmic});
      ++touched;
    } else {
      EXPECT_EQ(frame.image.data()[i], 10.0F);
    }
  }
  EXPECT_GT(touched, 94U * 4);
  EXPECT_LT(touched, 94U * 20);
}

TEST(Defects, AreFlaggedInMaskAndIvar) {
  const Array2D<double> mean(400, 400, 10.0);
  NoisyFrame frame = without_noise(mean, {});
  add_defects(frame, {});
  std::size_t dead = 0, saturated = 0, bad_amp = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const std::uint32_t bits = frame.mask.data()[i];
    EXPECT_EQ(frame.ivar.data()[i] == 0.0F, bits != 0);
    if ((bits & kCcdDead) != 0) {
      ++dead;
      EXPECT_TRUE((bits & kCcdBad) != 0);
    }
    if ((bits & kCcdSaturated) != 0) {
      ++saturated;
      EXPECT_EQ(frame.image.data()[i], 65000.0F);
    }
    bad_amp += (bits & kCcdBadAmp) != 0 ? 1U : 0U;
  }
  EXPECT_GE(dead, 51U * 25U);
  EXPECT_GE(saturated, 300U);
  EXPECT_EQ(bad_amp, 200U * 200U);
}

TEST(Defects, CanBeLeftOutOneByOne) {
  const Array2D<double> mean(100, 100, 10.0);
  NoisyFrame frame = without_noise(mean, {});
  DefectOptions none;
  none.dead_columns = none.dead_blocks = none.saturated_rows = none.bad_amplifiers = 0;
  add_defects(frame, none);
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_EQ(frame.mask.data()[i], 0U);
}

}  // namespace
}  // namespace fiberloom
