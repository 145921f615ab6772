// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/harmonics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"
#include "skyloom/filters/plate.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kTurned = 3000;
const std::vector<Stretch> kWhole = {{0, kTurned}};

/// A plate that turns about once in 15 samples, not quite evenly.
std::vector<double> angles() {
  std::vector<double> out(kTurned);
  for (std::size_t i = 0; i < kTurned; ++i) {
    const auto t = static_cast<double>(i);
    out[i] = std::fmod(0.42 * t + 0.2 * std::sin(0.003 * t), kTurn);
  }
  return out;
}

std::vector<double> some_noise(std::uint64_t seed) {
  const CounterRng random(seed, 0);
  std::vector<double> out(kTurned);
  for (std::size_t i = 0; i < kTurned; ++i) out[i] = random.normal(i);
  return out;
}

/// 1e3 times the harmonics 1 to 4, which grow by `growth` until the end of the stretch.
void add_plate(std::vector<double>& to, const Stretch& stretch, double growth) {
  const std::vector<double> angle = angles();
  for (std::size_t i = stretch.first; i < stretch.end; ++i) {
    const double t =
        static_cast<double>(i - stretch.first) / static_cast<double>(stretch.end - stretch.first);
    for (int k = 1; k <= 4; ++k) {
      to[i] += 1e3 / k * (1 + growth * t) * std::cos(k * (angle[i] - 0.3));
    }
  }
}

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most;
}

TEST(HarmonicFilter, DoesNotSeeWhatTurnsWithThePlate) {
  std::vector<std::uint8_t> few(kTurned, 0), many(kTurned, 0);
  for (std::size_t i = 0; i < kTurned; i += 7) few[i] = 1;
  for (std::size_t i = 0; i < kTurned; ++i) many[i] = i % 3 != 0 || (i > 900 && i < 1300) ? 1 : 0;
  for (const auto& flags : {few, many}) {
    for (const double growth : {0.0, 0.4}) {
      HarmonicTemplate options{.harmonics = 5};
      options.drift = growth != 0;
      const HarmonicFilter filter(options, angles(), kWhole);
      std::vector<double> clean = some_noise(1), seen = clean, whole = clean;
      add_plate(seen, kWhole[0], growth);
      ASSERT_TRUE(filter.subtract(0, clean, flags));
      ASSERT_TRUE(filter.subtract(0, seen, flags));
      EXPECT_LT(farthest(clean, seen), 1e3 * 1e-13);
      EXPECT_GT(farthest(clean, whole), 1e-2);  // it did something
      if (growth == 0) continue;
      std::vector<double> stiff = whole;
      add_plate(stiff, kWhole[0], growth);
      ASSERT_TRUE(HarmonicFilter({.harmonics = 5}, angles(), kWhole).subtract(0, stiff, flags));
      EXPECT_GT(farthest(clean, stiff), 10);  // what grows is another signal
    }
  }
}

/// Made with TOAST 3.0.6: HWPFilter with trend_order 2, filter_order 3, of 60 samples.
TEST(HarmonicFilter, IsThePeers) {
  std::vector<double> angle(60), values(60);
  std::vector<std::uint8_t> flags(60, 0);
  for (std::size_t i = 0; i < 60; ++i) {
    const auto t = static_cast<double>(i);
    angle[i] = std::fmod(0.7 * t + 0.3, kTurn);
    values[i] =
        std::sin(0.3 * t + 1) + 0.01 * t + 3 * std::cos(2 * angle[i]) + 0.5 * std::sin(angle[i]);
    flags[i] = i % 7 == 0 || (i >= 10 && i < 15) ? 1 : 0;
  }
  const struct {
    std::size_t sample;
    double value, detrended;
  } peer[] = {{0, 1.0286149599862267, 0.5260428462314155},
              {1, 0.9076594695813933, 0.40669453916309317},
              {8, -0.16034973188672863, -0.6462485597137881},
              {12, -0.8994728752742516, -1.373764357935439},
              {25, 1.2111461562937467, 0.7896374034766656},
              {59, 0.35220500256149445, 0.17763051681147388}};
  for (const bool detrend : {false, true}) {
    HarmonicTemplate options{.harmonics = 3, .trend = 2};
    options.detrend = detrend;
    std::vector<double> found = values;
    ASSERT_TRUE(
        HarmonicFilter(options, angle, std::vector<Stretch>{{0, 60}}).subtract(0, found, flags));
    for (const auto& each : peer) {
      EXPECT_NEAR(found[each.sample], detrend ? each.detrended : each.value, 1e-12) << each.sample;
    }
  }
}

TEST(HarmonicFilter, LeavesTheTrendUnlessItIsToGo) {
  std::vector<double> drift(kTurned);
  const std::vector<std::uint8_t> flags(kTurned, 0);
  for (std::size_t i = 0; i < kTurned; ++i) {
    const double x = 2 * static_cast<double>(i) / kTurned - 1;
    drift[i] = 7 + 5 * x - 3 * x * x * x;
  }
  std::vector<double> kept = drift, gone = drift;
  ASSERT_TRUE(HarmonicFilter({.harmonics = 4}, angles(), kWhole).subtract(0, kept, flags));
  EXPECT_LT(farthest(kept, drift), 1e-11);
  HarmonicTemplate options{.harmonics = 4};
  options.detrend = true;
  ASSERT_TRUE(HarmonicFilter(options, angles(), kWhole).subtract(0, gone, flags));
  EXPECT_LT(farthest(gone, std::vector<double>(kTurned, 0.0)), 1e-11);
}

TEST(HarmonicFilter, FitsEachStretchByItself) {
  const std::vector<Stretch> stretches = {{0, 1100}, {1200, kTurned}};
  const HarmonicFilter filter({.harmonics = 4}, angles(), stretches);
  const std::vector<std::uint8_t> flags(kTurned, 0);
  std::vector<double> clean = some_noise(2), seen = clean;
  const std::vector<double> before = clean;
  add_plate(seen, stretches[0], 0);
  for (std::size_t s = 0; s < 2; ++s) {
    ASSERT_TRUE(filter.subtract(s, clean, flags));
    ASSERT_TRUE(filter.subtract(s, seen, flags));
  }
  EXPECT_LT(farthest(clean, seen), 1e3 * 1e-13);
  for (std::size_t i = 1100; i < 1200; ++i) EXPECT_EQ(clean[i], before[i]);
}

TEST(HarmonicFilter, SaysWhereTheFitFailsAndChangesNothing) {
  std::vector<double> values = some_noise(3);
  std::vector<std::uint8_t> flags(kTurned, 1);
  const HarmonicFilter filter({.harmonics = 5}, angles(), kWhole);
  EXPECT_FALSE(filter.subtract(0, values, flags));
  for (std::size_t i = 0; i < 15; ++i) flags[i] = 0;  // 16 templates
  EXPECT_FALSE(filter.subtract(0, values, flags));
  EXPECT_EQ(values, some_noise(3));
  flags.assign(kTurned, 0);
  const std::vector<double> stands(kTurned, 1.0);
  EXPECT_FALSE(HarmonicFilter({.harmonics = 1}, stands, kWhole).subtract(0, values, flags));
  EXPECT_EQ(values, some_noise(3));
}

TEST(HarmonicFilter, DoesNotAskWhatIsNoNumber) {
  std::vector<double> plain = some_noise(4), wild = plain;
  wild[7] = NAN;
  wild[100] = 1e40;
  std::vector<std::uint8_t> flags(kTurned, 0), marked(kTurned, 0);
  marked[7] = marked[100] = 1;
  const HarmonicFilter filter({.harmonics = 3}, angles(), kWhole);
  ASSERT_TRUE(filter.subtract(0, plain, marked));
  ASSERT_TRUE(filter.subtract(0, wild, flags));
  wild[7] = plain[7];
  wild[100] = plain[100];
  EXPECT_EQ(plain, wild);
}

TEST(Plate, TurnsOnTheShortWay) {
  std::vector<double> angle(1000);
  for (const double step : {0.3, -0.3}) {
    for (std::size_t i = 0; i < angle.size(); ++i) {
      angle[i] = std::remainder(step * static_cast<double>(i), kTurn);
    }
    EXPECT_NEAR(plate_turns(angle, "A", "B"), 0.3 / kTurn, 1e-15);
  }
  EXPECT_NO_THROW(check_plate_rate(0.1, 4.9, 10, "A", "B"));
  EXPECT_THROW(check_plate_rate(0.1, 5, 10, "A", "B"), Error);
  for (std::size_t i = 0; i < angle.size(); ++i)
    angle[i] = static_cast<double>(i / 100);  // goes in steps
  EXPECT_THROW((void)plate_turns(angle, "A", "B"), Error);
  EXPECT_THROW((void)plate_turns({angle.data(), 1}, "A", "B"), Error);
}

TEST(Plate, TellsApartWhereItStandsOrTurnsAbout) {
  constexpr std::size_t kStands = 300, kGoes = 400, kBack = 700;
  std::vector<double> angle{0};
  const auto turn = [&](std::size_t until, double step) {
    while (angle.size() <= until) {
      angle.push_back(std::remainder(angle.back() + step, kTurn));
    }
  };
  turn(999, 0.3);
  const EvenTurns even = even_turns(angle, 0.1, "A", "B");
  EXPECT_EQ(even.turns, plate_turns(angle, "A", "B"));
  EXPECT_TRUE(even.uneven.empty());

  angle.resize(1);
  turn(kStands, 0.3);
  turn(kGoes, 0);
  turn(kBack, 0.3);
  turn(999, -0.3);
  const EvenTurns found = even_turns(angle, 0.1, "A", "B");
  EXPECT_NEAR(found.turns, 0.3 / kTurn, 1e-15);
  // half a turn is 10.5 samples: of the 22 around more than two do not turn on
  ASSERT_EQ(found.uneven.size(), 2U);
  EXPECT_EQ(found.uneven[0].first, kStands - 8);
  EXPECT_EQ(found.uneven[0].end, kGoes + 9);
  EXPECT_EQ(found.uneven[1].first, kBack - 9);
  EXPECT_EQ(found.uneven[1].end, kBack + 10);

  angle.resize(1);
  for (std::size_t i = 1; i < 1000; ++i) turn(i, 0.3 + 0.2 * std::sin(static_cast<double>(i) / 50));
  EXPECT_THROW((void)even_turns(angle, 0.1, "A", "B"), Error);
}

}  // namespace
}  // namespace skyloom
