// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/demodulate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/base/rng.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

/// What is demodulated of samples behind a plate that turns evenly.
struct Case {
  Case(std::size_t n, double step, const DemodulationOptions& options)
      : turns(step / kTurn), demodulator(options, turns) {
    for (std::size_t i = 0; i < n; ++i) angle.push_back(step * static_cast<double>(i));
    for (const double h : angle) {
      cosine.push_back(std::cos(4 * h));
      sine.push_back(std::sin(4 * h));
    }
    values.assign(n, 0.0);
    flags.assign(n, 0);
    kept = demodulator.kept(n);
  }
  void run() {
    for (auto* const out : {&slow, &of_cosine, &of_sine}) out->resize(kept);
    out_flags.resize(kept);
    DemodulationWork work;
    demodulator.apply(values, {cosine, sine}, work, {slow, of_cosine, of_sine});
    demodulator.flag(flags, out_flags);
  }
  double turns;
  Demodulator demodulator;
  std::size_t kept = 0;
  std::vector<double> angle, cosine, sine, values, slow, of_cosine, of_sine;
  std::vector<std::uint8_t> flags, out_flags;
};

constexpr DemodulationOptions kUsual{.on = true};

/// Made with scipy 1.17.1: firwin(255, 0.95, fs=20), firwin(127, [3.05, 4.95], fs=20).
TEST(FilterTaps, AreThePeers) {
  EXPECT_EQ(filter_length(0.95 / 20), 255U);
  EXPECT_EQ(filter_length(3.05 / 20), 127U);
  const std::vector<double> low = filter_taps(0, 0.95 / 20, 255);
  const std::vector<double> band = filter_taps(3.05 / 20, 4.95 / 20, 127);
  ASSERT_EQ(low.size(), 128U);
  ASSERT_EQ(band.size(), 64U);
  const struct {
    double found, wanted;
  } pairs[] = {{low[0], 0.09511584711783194},   {low[1], 0.09369688924483709},
               {low[7], 0.039275260230569924},  {low[127], 4.0710497636507294e-05},
               {band[0], 0.19042749326254355},  {band[1], 0.05794247250946378},
               {band[7], -0.06227778454453254}, {band[63], 3.0877607166998613e-05}};
  for (const auto& [found, wanted] : pairs) EXPECT_NEAR(found, wanted, 1e-15);
}

/// Made with TOAST 3.0.6: Lowpass, Bandpass as Demodulate has them, every third sample.
TEST(Demodulator, HasThePeersStreams) {
  Case of(900, 0.3142, kUsual);
  for (std::size_t i = 0; i < 900; ++i) {
    const auto t = static_cast<double>(i);
    of.values[i] = std::sin(0.01 * t) + 0.3 * std::cos(4 * of.angle[i] + 0.002 * t) +
                   0.1 * std::cos(2 * of.angle[i]) + static_cast<double>((i * 7919) % 101) / 101;
  }
  of.run();
  const struct {
    std::size_t at;
    double slow, cosine, sine;
  } peer[] = {{0, 0.23851886473821202, 0.04390146069420465, 0.07770420548673226},
              {100, 0.6285886321283585, 0.27808818269614194, -0.2443945688067748},
              {150, -0.5311728375739305, 0.08445461322393073, -0.44281001648210894},
              {299, 0.7483979172084768, 0.007922640569837073, -0.38531988782086246}};
  for (const auto& each : peer) {
    EXPECT_NEAR(of.slow[each.at], each.slow, 1e-13);
    EXPECT_NEAR(of.of_cosine[each.at], each.cosine, 1e-13);
    EXPECT_NEAR(of.of_sine[each.at], each.sine, 1e-13);
  }
}

TEST(Demodulator, FindsWhatIsModulated) {
  Case of(3000, 0.31, kUsual);
  for (std::size_t i = 0; i < 3000; ++i) {
    of.values[i] = 5 + 0.7 * of.cosine[i] - 0.2 * of.sine[i] + 3 * std::cos(2 * of.angle[i] + 1);
  }
  of.run();
  constexpr double kStopBand = 2e-3;  // Hamming's window: -53 dB
  std::size_t good = 0;
  for (std::size_t j = 0; j < of.kept; ++j) {
    if (of.out_flags[j] != 0) continue;
    ++good;
    EXPECT_NEAR(of.slow[j], 5, kStopBand * 4);
    EXPECT_NEAR(of.of_cosine[j], 0.7, kStopBand * 9);
    EXPECT_NEAR(of.of_sine[j], -0.2, kStopBand * 9);
  }
  EXPECT_EQ(good, (3000 - 2 * of.demodulator.length() + 2) / 3);
}

/// Of white noise with the density P stream I has P, R and S have 2 P at frequencies that are well
/// inside the filters: a stream I + R cos + S sin has 3 P, and those that are 120 degrees apart
/// know nothing of each other.
TEST(Demodulator, MakesThreeIndependentStreamsOfWhiteNoise) {
  Case of(1'000'000, 0.31, kUsual);
  const CounterRng random(5, 0);
  for (std::size_t i = 0; i < of.values.size(); ++i) of.values[i] = random.normal(i);
  of.run();
  constexpr std::size_t kTogether = 40;  // six turns: means of so many have what is slow
  double moments[3][3] = {};
  std::size_t n = 0;
  for (std::size_t first = of.demodulator.length(); first + kTogether < of.kept - first;
       first += kTogether) {
    double stream[3] = {};
    for (std::size_t j = first; j < first + kTogether; ++j) {
      for (int k = 0; k < 3; ++k) {
        const double at = k * kTurn / 3;
        stream[k] += of.slow[j] + std::cos(at) * of.of_cosine[j] + std::sin(at) * of.of_sine[j];
      }
    }
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) moments[a][b] += stream[a] * stream[b];
    }
    ++n;
  }
  const double mean = static_cast<double>(n) * kTogether / 3;  // of sums of white noise of 1
  const double most = 5 * std::sqrt(2 / static_cast<double>(n));
  for (int a = 0; a < 3; ++a) {
    EXPECT_NEAR(moments[a][a] / mean, 3, 3 * most) << a;
    for (int b = 0; b < a; ++b) EXPECT_NEAR(moments[a][b] / mean, 0, 3 * most) << a << b;
  }
}

TEST(Demodulator, FlagsEndsAndWhatIsMostlyUnknown) {
  Case of(3000, 0.31, kUsual);
  of.flags[1500] = 1;                                         // one sample: its share is small
  for (std::size_t i = 2000; i < 2100; ++i) of.flags[i] = 1;  // a gap of five turns
  of.run();
  const std::size_t length = of.demodulator.length();
  // the share by the sum over the low-pass's taps, as it is said
  const std::vector<double> taps = filter_taps(0, 0.95 * of.turns, filter_length(0.95 * of.turns));
  std::size_t inside = 0;
  for (std::size_t j = 0; j < of.kept; ++j) {
    const std::size_t at = 3 * j;
    if (at < length || at + length >= 3000) {
      EXPECT_NE(of.out_flags[j], 0) << j;
      continue;
    }
    double share = 0;
    for (std::size_t i = 0; i < 3000; ++i) {
      const std::size_t lag = i > at ? i - at : at - i;
      if (of.flags[i] == 0 && lag < taps.size()) share += taps[lag];
    }
    EXPECT_EQ(of.out_flags[j], share < Demodulator::kLeastShare ? 1 : 0) << j;
    inside += of.out_flags[j];
  }
  EXPECT_GT(inside, 100U / 3);
  EXPECT_LT(inside, 160U / 3);
}

TEST(FillGaps, GoesOnWithOffsetSlopeAndThePlate) {
  constexpr std::size_t kSamples = 1000;
  Case of(kSamples, 0.31, kUsual);
  std::vector<std::uint8_t> flags(kSamples, 0);
  for (std::size_t i = 0; i < kSamples; ++i) {
    of.values[i] =
        8 + 1e-3 * static_cast<double>(i) + 3 * std::cos(2 * of.angle[i] + 1) + 0.3 * of.sine[i];
    if (i < 3 || i % 97 == 5 || (i >= 400 && i < 470) || (i >= 480 && i < 490) || i >= 995) {
      flags[i] = 1;
    }
  }
  const std::vector<double> whole = of.values;
  for (std::size_t i = 0; i < kSamples; ++i) {
    if (flags[i] != 0) of.values[i] = i % 2 == 0 ? NAN : 1e6;
  }
  of.values[700] = NAN;  // not flagged
  const HarmonicFilter templates(gap_template(), of.angle, {});
  fill_gaps(templates, 21, of.values, flags);
  for (std::size_t i = 0; i < kSamples; ++i) EXPECT_NEAR(of.values[i], whole[i], 1e-9) << i;
}

TEST(FillGaps, TakesAStraightLineWhereNothingElseIsKnown) {
  constexpr std::size_t kSamples = 100;
  const std::vector<double> angle(kSamples, 0.0);  // it stands
  std::vector<double> values(kSamples, NAN);
  std::vector<std::uint8_t> flags(kSamples, 1);
  const HarmonicFilter templates(gap_template(), angle, {});
  values[10] = 1;
  values[20] = 6;
  flags[10] = flags[20] = 0;
  fill_gaps(templates, 10, values, flags);
  EXPECT_EQ(values[0], 1);
  EXPECT_DOUBLE_EQ(values[12], 2);
  EXPECT_EQ(values[99], 6);
  values.assign(kSamples, NAN);
  flags.assign(kSamples, 1);
  fill_gaps(templates, 10, values, flags);
  EXPECT_EQ(values, std::vector<double>(kSamples, 0.0));
}

}  // namespace
}  // namespace skyloom
