// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/offset_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/testing/test_files.hpp"
#include "skyloom/noise/inverse_covariance.hpp"
#include "skyloom/noise/noise_stream.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using loom::test::thrown_by;

constexpr DetectorNoise kKnee{.net = 50e-6, .fmin_hz = 1e-5, .fknee_hz = 0.05, .slope = 1};

TEST(OffsetPsd, OfShortBaselinesIsTheSpectrumWithoutItsWhitePart) {
  const NoisePsd model = analytic_psd(kKnee, 100, "a");
  constexpr double kStep = 0.02;
  for (const double f : model.frequency_hz) {  // between them the spectrum is interpolated
    if (f > 0.3) break;
    const double white = kKnee.net * kKnee.net;
    const double rest = white * ((f + kKnee.fknee_hz) / (f + kKnee.fmin_hz) - 1);
    // the white part is a line through the upper fifth of the knots: 1.1 % too low here
    EXPECT_NEAR(kStep * offset_psd(model, kStep, {f}).front(), rest, 0.001 * rest + 0.012 * white)
        << f;
  }
}

TEST(OffsetPsd, IsThatOfMeansOfNoise) {
  constexpr std::size_t kSamples = 4096, kStreams = 200, kLength = 20;
  constexpr double kRate = 10, kStep = kLength / kRate;
  const DetectorNoise noise{.net = 1, .fmin_hz = 0.02, .fknee_hz = 0.5, .slope = 1};
  const NoisePsd model = analytic_psd(noise, kRate, "a");
  const NoiseMaker maker(kSamples, 0);
  const auto amplitudes = stream_amplitudes(model, kRate, maker.length(), "a");
  NoiseWork work;
  double squares = 0, count = 0;
  for (std::uint64_t i = 0; i < kStreams; ++i) {
    std::vector<double> out(kSamples);
    const NoiseStream one{{.realization = i, .detector = 4}, amplitudes, out};
    maker.make({&one, 1}, work);
    for (std::size_t first = 0; first + kLength <= kSamples; first += kLength, ++count) {
      double mean = 0;
      for (std::size_t k = first; k < first + kLength; ++k) mean += out[k] / kLength;
      squares += mean * mean;
    }
  }
  constexpr std::size_t kBins = 2000;
  const double width = 0.5 / kStep / kBins;
  std::vector<double> at;
  for (std::size_t i = 0; i < kBins; ++i) at.push_back((static_cast<double>(i) + 0.5) * width);
  double variance = noise.net * noise.net / kStep;  // of the white part
  for (const double p : offset_psd(model, kStep, at)) variance += 2 * p * width * kStep;
  EXPECT_NEAR(squares / count, variance, 0.08 * variance);
}

TEST(OffsetFilter, UndoesTheCovarianceOfOffsets) {
  // convolved with the covariance that belongs to the same spectrum it is 1 at lag 0, 0 elsewhere
  const NoisePsd model =
      analytic_psd({.net = 1, .fmin_hz = 0.01, .fknee_hz = 1, .slope = 1}, 100, "a");
  constexpr double kStep = 1;
  constexpr std::size_t kOffsets = 512;
  const std::vector<double> filter = offset_filter(model, 100, kStep, kOffsets, "a");
  ASSERT_GT(filter.size(), 3U);
  std::vector<double> frequencies;
  for (std::size_t k = 1; k <= kOffsets; ++k) {
    frequencies.push_back(static_cast<double>(k) / (2 * kOffsets * kStep));
  }
  const std::vector<double> psd = offset_psd(model, kStep, frequencies);
  // in frequency: the filter's transform times P_a
  for (std::size_t k = 20; k < kOffsets; k += 50) {
    double transform = filter[0];
    for (std::size_t lag = 1; lag < filter.size(); ++lag) {
      transform +=
          2 * filter[lag] *
          std::cos(2 * 3.14159265358979 * frequencies[k] * kStep * static_cast<double>(lag));
    }
    EXPECT_NEAR(transform * psd[k], 1, 0.05) << k;
  }
}

TEST(OffsetFilter, IsNoneForWhiteNoiseAndForOneOffset) {
  const NoisePsd white = analytic_psd({.net = 1}, 100, "a");
  EXPECT_TRUE(offset_filter(white, 100, 1, 512, "a").empty());
  const NoisePsd pink =
      analytic_psd({.net = 1, .fmin_hz = 0.01, .fknee_hz = 1, .slope = 1}, 100, "a");
  EXPECT_TRUE(offset_filter(pink, 100, 1, 1, "a").empty());
  EXPECT_FALSE(offset_filter(pink, 100, 1, 2, "a").empty());
}

TEST(OffsetFilter, RefusesSpectraThatAreNone) {
  const std::vector<double> f{0.01, 0.1, 50};
  const NoisePsd bad[] = {{f, {1, NAN, 1}}, {f, {1, -1, 1}},
                          {f, {0, 0, 0}},   {{50, 0.1, 0.01}, {1, 1, 2}},
                          {f, {1, 1}},      {{0.01, NAN, 50}, {3, 2, 1}},
                          {{0, 0}, {1, 1}}, {{}, {}}};
  for (const NoisePsd& model : bad) {
    const auto prior = thrown_by([&] { (void)offset_filter(model, 100, 1, 512, "a"); });
    EXPECT_EQ(prior.status, kNoiseModel);
    EXPECT_TRUE(prior.says("noise of a: ")) << prior.message;
    const auto weights = thrown_by([&] { (void)inverse_covariance(model, 100, 10, "a"); });
    EXPECT_EQ(weights.status, kNoiseModel);
  }
}

}  // namespace
}  // namespace skyloom
