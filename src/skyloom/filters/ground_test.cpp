// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/ground.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kLength = 4000;

/// Sweeps between 2 and 3 rad, with parabolas where they turn.
std::vector<double> sweeps() {
  std::vector<double> out(kLength);
  for (std::size_t i = 0; i < kLength; ++i) {
    const double t = std::fmod(0.01 * static_cast<double>(i), 4.0);
    out[i] =
        t < 2 ? 2 + t * (2 - t) * 0.5 + 0.25 * t : 2.5 - (t - 2) * (4 - t) * 0.2 - 0.25 * (t - 2);
  }
  return out;
}

std::vector<double> noise(std::uint64_t seed) {
  const CounterRng random(seed, 0);
  std::vector<double> out(kLength);
  for (std::size_t i = 0; i < kLength; ++i) out[i] = random.normal(i);
  return out;
}

double spread(const std::vector<double>& a, const std::vector<double>& b,
              const std::vector<std::uint8_t>& flags) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (flags[i] == 0) most = std::max(most, std::fabs(a[i] - b[i]));
  }
  return most;
}

TEST(GroundFilter, DoesNotSeeTheGround) {
  const std::vector<double> azimuth = sweeps();
  std::vector<std::uint8_t> flags(kLength, 0);
  for (std::size_t i = 0; i < kLength; i += 7) flags[i] = 1;
  for (std::size_t i = 1200; i < 1300; ++i) flags[i] = 1;
  const struct {
    GroundTemplate options;
    double (*ground)(double azimuth);
  } cases[] = {
      {{.order = 4}, [](double a) { return 1e3 * (a - 2) * (a - 2.3) * (a - 2.5); }},
      {{.bin_deg = 2}, [](double a) { return 1e3 * std::floor(a * 180 / 3.14159265358979 / 2); }},
      {{.order = 3, .trend = std::nullopt}, [](double a) { return 500 * a * a; }},
  };
  for (const auto& each : cases) {
    const GroundFilter filter(each.options, azimuth);
    std::vector<double> clean = noise(1), seen = clean;
    for (std::size_t i = 0; i < kLength; ++i) seen[i] += each.ground(azimuth[i]);
    auto first = flags, second = flags;
    ASSERT_TRUE(filter.subtract(clean, first));
    ASSERT_TRUE(filter.subtract(seen, second));
    EXPECT_LT(spread(clean, seen, first), 1e-9);
    EXPECT_EQ(first, second);
    EXPECT_GT(spread(clean, noise(1), first), 1e-2);  // it did something
  }
}

TEST(GroundFilter, SplitsByTheWayThatItGoes) {
  const std::vector<double> azimuth = sweeps();
  std::vector<std::uint8_t> flags(kLength, 0);
  std::vector<double> clean = noise(2), seen = clean;
  for (std::size_t i = 1; i + 1 < kLength; ++i) {
    seen[i] += azimuth[i + 1] >= azimuth[i - 1] ? 50 : -20 * azimuth[i];
  }
  flags.front() = flags.back() = 1;
  for (const GroundTemplate& options :
       {GroundTemplate{.order = 1, .split = true}, GroundTemplate{.bin_deg = 0.5, .split = true}}) {
    std::vector<double> a = clean, b = seen, c = seen;
    auto own = flags;
    const GroundFilter filter(options, azimuth);
    GroundTemplate whole = options;
    whole.split = false;
    ASSERT_TRUE(filter.subtract(a, own));
    ASSERT_TRUE(filter.subtract(b, own));
    if (options.order) {
      EXPECT_LT(spread(a, b, own), 1e-10);
    }
    ASSERT_TRUE(GroundFilter(whole, azimuth).subtract(c, own));
    EXPECT_GT(spread(a, c, own), 1);
  }
}

TEST(GroundFilter, LeavesTheTrendInTheSamples) {
  const std::vector<double> azimuth = sweeps();
  std::vector<std::uint8_t> flags(kLength, 0);
  std::vector<double> drift(kLength);
  for (std::size_t i = 0; i < kLength; ++i) {
    const double x = 2 * static_cast<double>(i) / kLength - 1;
    drift[i] = 5 * x - 3 * x * x * x;
  }
  const std::vector<double> before = drift;
  ASSERT_TRUE(GroundFilter({.order = 5}, azimuth).subtract(drift, flags));
  EXPECT_LT(spread(drift, before, flags), 1e-11);
  std::vector<double> without = before;
  ASSERT_TRUE(GroundFilter({.order = 5, .trend = std::nullopt}, azimuth).subtract(without, flags));
  EXPECT_GT(spread(without, before, flags), 1e-3);  // then the ground takes part of it
}

/// Made with TOAST 3.0.6: GroundFilter with trend_order 3, filter_order 4, of 40 samples.
TEST(GroundFilter, IsThePeers) {
  std::vector<double> azimuth(40), values(40);
  std::vector<std::uint8_t> flags(40, 0);
  for (std::size_t i = 0; i < 40; ++i) {
    const auto t = static_cast<double>(i);
    azimuth[i] = 2.5 + 0.3 * std::sin(0.4 * t);
    values[i] = std::sin(0.3 * t + 1) + 0.01 * t + azimuth[i] * azimuth[i];
    flags[i] = i % 7 == 0 || (i >= 10 && i < 15) ? 1 : 0;
  }
  ASSERT_TRUE(GroundFilter({.order = 4, .trend = 3}, azimuth).subtract(values, flags));
  const struct {
    std::size_t sample;
    double value;
  } peer[] = {{0, 0.62122614340484006},  {1, 0.656123109880693},   {8, -0.3679740874791424},
              {12, -1.6325021306067731}, {25, 1.0279301218855244}, {39, 0.25941286735448177}};
  for (const auto& each : peer) EXPECT_NEAR(values[each.sample], each.value, 1e-12) << each.sample;
}

TEST(GroundFilter, FlagsBinsThatNothingIsKnownOf) {
  std::vector<double> azimuth(100), values(100, 1.0);
  std::vector<std::uint8_t> flags(100, 0);
  for (std::size_t i = 0; i < 100; ++i) azimuth[i] = 0.01 * static_cast<double>(i % 50);
  for (std::size_t i = 0; i < 100; ++i) flags[i] = azimuth[i] > 0.395 && i % 50 > 45 ? 4 : 0;
  values[48] = 7;
  ASSERT_TRUE(GroundFilter({.bin_deg = 1, .trend = std::nullopt}, azimuth).subtract(values, flags));
  EXPECT_NEAR(values[10], 0, 1e-14);
  EXPECT_NE(flags[48], 0);
}

TEST(GroundFilter, SaysWhereTheFitFailsAndChangesNothing) {
  const std::vector<double> azimuth = sweeps();
  std::vector<double> values = noise(3);
  std::vector<std::uint8_t> flags(kLength, 1);
  const GroundFilter filter({.order = 5}, azimuth);
  EXPECT_FALSE(filter.subtract(values, flags));
  for (std::size_t i = 0; i < 8; ++i) flags[i] = 0;
  EXPECT_FALSE(filter.subtract(values, flags));
  EXPECT_EQ(values, noise(3));
  // a stare: azimuth is always the same, polynomials of it are one
  const std::vector<double> stare(kLength, 1.0);
  flags.assign(kLength, 0);
  EXPECT_FALSE(GroundFilter({.order = 2}, stare).subtract(values, flags));
  EXPECT_THROW(GroundFilter({.bin_deg = 1e-9}, azimuth), Error);
}

TEST(GroundFilter, DoesNotAskWhatIsNoNumber) {
  const std::vector<double> azimuth = sweeps();
  std::vector<double> plain = noise(4), wild = plain;
  wild[7] = NAN;
  wild[100] = 1e40;
  std::vector<std::uint8_t> flags(kLength, 0), marked(kLength, 0);
  marked[7] = marked[100] = 1;
  const GroundFilter filter({.order = 5}, azimuth);
  ASSERT_TRUE(filter.subtract(plain, marked));
  ASSERT_TRUE(filter.subtract(wild, flags));
  EXPECT_EQ(spread(plain, wild, marked), 0);
}

}  // namespace
}  // namespace skyloom
