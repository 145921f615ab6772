// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "loom/testing/test_files.hpp"
#include "skyloom/noise/noise_model.hpp"
#include "skyloom/noise/noise_stream.hpp"
#include "skyloom/noise/test_golden_noise.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using loom::test::thrown_by;

constexpr DetectorNoise kNoise{.net = 50e-6, .fmin_hz = 1e-5, .fknee_hz = 0.05, .slope = 1};

/// A stream by itself.
std::vector<double> stream(const StreamName& name, std::size_t n, std::int64_t first, Isa isa) {
  const NoiseMaker maker(n, first, isa);
  const auto amplitudes =
      stream_amplitudes(analytic_psd(kNoise, 100, "a"), 100, maker.length(), "a");
  std::vector<double> out(n);
  NoiseWork work;
  const NoiseStream one{name, amplitudes, out};
  maker.make({&one, 1}, work);
  return out;
}

constexpr StreamName kName{
    .realization = 3, .telescope = 7, .component = 2, .observation = 11, .detector = 13};

double rms(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum / static_cast<double>(x.size()));
}

TEST(NoiseStream, IsThePeersForEqualKeys) {
  for (const Isa isa : available_isas()) {
    const std::vector<double> found = stream(kName, 1000, 5, isa);
    const double size = rms(found);
    EXPECT_NEAR(size * size * 1000, kGoldenNoiseSquares, 1e-12 * kGoldenNoiseSquares);
    for (std::size_t i = 0; i < std::size(kGoldenNoise); ++i) {
      EXPECT_NEAR(found[50 * i], kGoldenNoise[i], 1e-13 * size) << isa_name(isa) << " " << i;
    }
  }
}

TEST(NoiseStream, HasTheSameNumbersAloneAndInAPair) {
  for (const std::size_t n : {3U, 20U, 700U}) {  // transforms of 8, 64 and 2048
    const NoiseMaker maker(n, 0);
    const auto amplitudes =
        stream_amplitudes(analytic_psd(kNoise, 100, "a"), 100, maker.length(), "a");
    std::vector<double> a(n), b(n);
    StreamName other = kName;
    other.detector = 14;
    const NoiseStream both[] = {{kName, amplitudes, a}, {other, amplitudes, b}};
    NoiseWork work;
    maker.make(both, work);
    const auto alone = stream(kName, n, 0, active_isa()), next = stream(other, n, 0, active_isa());
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(a[i], alone[i], 1e-14 * rms(alone) * 10);
      EXPECT_NEAR(b[i], next[i], 1e-14 * rms(next) * 10);
      sum += a[i];
    }
    EXPECT_NEAR(sum, 0, 1e-13 * rms(alone) * static_cast<double>(n));
  }
}

TEST(NoiseStream, HasTheSpectrumThatWasAskedFor) {
  // mean periodogram of many streams against NET^2 in the white part, 2 %
  constexpr std::size_t kSamples = 2048, kStreams = 60;
  const DetectorNoise white{.net = 1, .fknee_hz = 0};
  const NoiseMaker maker(kSamples, 0);
  const auto amplitudes = stream_amplitudes(analytic_psd(white, 10, "a"), 10, maker.length(), "a");
  NoiseWork work;
  double power = 0;
  for (std::uint64_t i = 0; i < kStreams; ++i) {
    std::vector<double> out(kSamples);
    const NoiseStream one{{.realization = i, .detector = 9}, amplitudes, out};
    maker.make({&one, 1}, work);
    for (const double x : out) power += x * x;
  }
  // variance = integral of NET^2 over both signs of frequency = NET^2 rate
  EXPECT_NEAR(power / (kSamples * kStreams), 10, 0.02 * 10);
}

TEST(NoiseModel, IsTheAnalyticOne) {
  const NoisePsd model = analytic_psd(kNoise, 100, "a");
  EXPECT_DOUBLE_EQ(model.frequency_hz.front(), 1e-9);
  EXPECT_DOUBLE_EQ(model.frequency_hz.back(), 50);
  EXPECT_NEAR(model.psd.back(), 50e-6 * 50e-6 * (50 + 0.05) / (50 + 1e-5), 1e-24);
  EXPECT_EQ(sample_weight({.noise = kNoise}, 100), 1 / (50e-6 * 50e-6) / 100);
  EXPECT_DOUBLE_EQ(sample_weight({.noise = kNoise, .common_psd = 75e-10}, 100), 1 / 1e-8 / 100);
  EXPECT_EQ(sample_weight({.noise = {.net = 0}}, 100), 0);
}

TEST(NoiseModel, NamesWhatIsWrong) {
  EXPECT_TRUE(thrown_by([] { (void)analytic_psd({.net = -1}, 100, "D7"); }).says("D7"));
  EXPECT_EQ(
      thrown_by([] { (void)analytic_psd({.net = 1, .fmin_hz = 2, .fknee_hz = 1}, 9, "a"); }).status,
      kNoiseModel);
  const auto refusal = [](const NoisePsd& model) {
    return thrown_by([&] { (void)stream_amplitudes(model, 100, 64, "D7"); });
  };
  EXPECT_EQ(refusal({{0, 50}, {1, 1}}).status, Status::kOk);
  EXPECT_TRUE(refusal({{0, 50}, {1, -1}}).says("expected 0 or more"));
  EXPECT_TRUE(refusal({{0, 50}, {1, std::nan("")}}).says("expected 0 or more"));
  EXPECT_TRUE(refusal({{0, 50}, {0, 0}}).says("nothing but 0"));
  EXPECT_TRUE(refusal({{0, 40}, {1, 1}}).says("ends at 40 Hz"));
  EXPECT_TRUE(refusal({{10, 50}, {1, 1}}).says("begins at 10 Hz"));
  EXPECT_TRUE(refusal({{0, 30, 20, 50}, {1, 1, 1, 1}}).says("do not grow"));
  EXPECT_EQ(refusal({{0, 50}, {1}}).status, kNoiseModel);
}

}  // namespace
}  // namespace skyloom
