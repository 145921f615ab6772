// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/measured_spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "skyloom/noise/noise_stream.hpp"
#include "skyloom/noise/spectrum_lags.hpp"

namespace skyloom {
namespace {

constexpr DetectorNoise kMeterNoise{.net = 2, .fmin_hz = 1e-4, .fknee_hz = 0.5, .slope = 1.5};
constexpr double kMeterRate = 20;
constexpr std::size_t kMeterSamples = 20000, kMeterStreams = 24;

/// Means over many streams of what the meter finds, over the model; `cut` flags some samples.
template <class Cut>
std::vector<double> ratios(const SpectrumMeter& meter, const Cut& cut) {
  const NoiseMaker maker(kMeterSamples, 0);
  const NoisePsd model = analytic_psd(kMeterNoise, kMeterRate, "a");
  const auto amplitudes = stream_amplitudes(model, kMeterRate, maker.length(), "a");
  std::vector<double> sum(meter.frequencies().size(), 0.0), out(kMeterSamples);
  NoiseWork work;
  for (std::uint64_t i = 0; i < kMeterStreams; ++i) {
    const NoiseStream one{{.realization = i}, amplitudes, out};
    maker.make({&one, 1}, work);
    std::vector<std::uint8_t> flags(kMeterSamples, 0);
    cut(out, flags);
    const std::vector<double> found = meter.measure(out, flags);
    for (std::size_t b = 0; b < sum.size(); ++b) sum[b] += found.at(b) / kMeterStreams;
  }
  const LogCurve curve(model.frequency_hz, model.psd);
  for (std::size_t b = 0; b < sum.size(); ++b) sum[b] /= curve(meter.frequencies()[b]);
  return sum;
}

TEST(SpectrumMeter, FindsTheSpectrumThatNoiseWasMadeWith) {
  const SpectrumMeter meter(kMeterSamples, kMeterRate);
  ASSERT_GT(meter.frequencies().size(), 50U);
  EXPECT_NEAR(meter.frequencies().front(), 2 * kMeterRate / 4096, 1e-12);
  EXPECT_GT(meter.frequencies().back(), 0.96 * kMeterRate / 2);
  const auto found = ratios(meter, [](auto&, auto&) {});
  double slow = 0, count = 0;
  for (std::size_t b = 0; b < found.size(); ++b) {
    const bool narrow = meter.frequencies()[b] < 0.4;  // bands of one frequency or two: 8 %
    EXPECT_NEAR(found[b], 1, narrow ? 0.3 : 0.12) << b;
    if (narrow) slow += found[b], count += 1;
  }
  EXPECT_NEAR(slow / count, 1, 0.05);
}

TEST(SpectrumMeter, LooksAwayFromWhatIsLeftOut) {
  const SpectrumMeter meter(kMeterSamples, kMeterRate);
  const auto found = ratios(meter, [](std::vector<double>& values, auto& flags) {
    for (std::size_t i = 0; i < kMeterSamples; i += 1000) {
      for (std::size_t k = i; k < i + 100; ++k) {
        flags[k] = k % 2;
        values[k] = k % 4 == 0 ? std::nan("") : k % 2 == 0 ? 1e35 : 1e6;
      }
    }
  });
  for (std::size_t b = 0; b < found.size(); ++b) {
    if (meter.frequencies()[b] < 1) continue;
    EXPECT_NEAR(found[b], 1, 0.12) << b;
  }
}

TEST(SpectrumMeter, SaysNothingWhereThereIsNothing) {
  EXPECT_TRUE(SpectrumMeter(100, 1).frequencies().empty());
  const std::vector<double> values(200, 1.0);
  EXPECT_TRUE(SpectrumMeter(100, 1).measure(values, std::vector<std::uint8_t>(200, 0)).empty());
  EXPECT_TRUE(SpectrumMeter(200, 1).measure(values, std::vector<std::uint8_t>(200, 1)).empty());
  // a piece needs half of its samples
  std::vector<std::uint8_t> most(200, 1);
  std::fill(most.begin(), most.begin() + 20, std::uint8_t{0});
  EXPECT_TRUE(SpectrumMeter(200, 1).measure(values, most).empty());
}

}  // namespace
}  // namespace skyloom
