// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/simulate/detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tomoloom {
namespace {

constexpr std::size_t kRows = 8, kColumns = 250, kPixels = kRows * kColumns;

using Frame = std::vector<std::uint16_t>;

struct Frames {
  Frame dark = Frame(kPixels), flat = Frame(kPixels), projection = Frame(kPixels);
};

Frames expose(const DetectorOptions& options, double integral, std::size_t number = 0,
              std::size_t total = 1) {
  const Detector detector(kRows, kColumns, options);
  const std::vector<double> integrals(kPixels, integral);
  Frames out;
  detector.dark(0, out.dark);
  detector.flat(0, out.flat);
  detector.projection(number, total, integrals, out.projection);
  return out;
}

/// Mean and standard deviation of -log of the normalised projection.
std::pair<double, double> measured(const Frames& frames) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < kPixels; ++i) {
    const double p = -std::log((1.0 * frames.projection[i] - frames.dark[i]) /
                               (1.0 * frames.flat[i] - frames.dark[i]));
    sum += p;
    squares += p * p;
  }
  const double mean = sum / kPixels;
  return {mean, std::sqrt(squares / kPixels - mean * mean)};
}

TEST(Detector, WithoutNoiseTheLogarithmIsTheLineIntegral) {
  const auto [mean, spread] = measured(expose({.photons = 0}, 1.25));
  EXPECT_NEAR(mean, 1.25, 1e-5);
  EXPECT_LT(spread, 1e-4);  // counts are whole numbers: 1/40000 e^1.25 / sqrt(12)
}

TEST(Detector, NoiseIsThatOfThePhotons) {
  const auto [mean, spread] = measured(expose({.photons = 10000}, 1.0));
  EXPECT_NEAR(mean, 1.0, 0.005);
  // flat 1/sqrt(N), projection sqrt(e/N), N a little below 10000 at the beam's edge
  EXPECT_NEAR(spread, std::sqrt((1 + std::exp(1.0)) / 10000 / 0.88), 0.002);
}

TEST(Detector, RingsStayFromProjectionToProjection) {
  const DetectorOptions options{.photons = 0, .rings = 0.02};
  const Frames first = expose(options, 0.5, 3, 10), later = expose(options, 0.5, 7, 10);
  EXPECT_EQ(first.projection, later.projection);
  EXPECT_NEAR(measured(first).second, 0.02, 0.002);
}

TEST(Detector, ADriftingBeamFadesAlongTheScan) {
  const DetectorOptions options{.photons = 0, .drift = 0.1};
  EXPECT_NEAR(measured(expose(options, 0, 0, 11)).first, 0, 1e-4);
  EXPECT_NEAR(measured(expose(options, 0, 10, 11)).first, -std::log(0.9), 1e-4);
}

TEST(Detector, ZingersHitSoManyPixelsOfProjectionsAloneWithAndWithoutNoise) {
  const auto hit = [](const Frame& frame) { return std::count(frame.begin(), frame.end(), 65535); };
  for (const double photons : {20000.0, 0.0}) {
    const Frames frames = expose({.photons = photons, .zingers = 0.05}, 1.0);
    EXPECT_NEAR(static_cast<double>(hit(frames.projection)) / kPixels, 0.05, 0.02) << photons;
    EXPECT_EQ(hit(frames.flat), 0) << photons;
    EXPECT_EQ(hit(frames.dark), 0) << photons;
  }
}

TEST(Detector, AFrameIsAFunctionOfTheSeedAndItsNumber) {
  EXPECT_EQ(expose({.seed = 5}, 1, 2, 9).projection, expose({.seed = 5}, 1, 2, 9).projection);
  EXPECT_NE(expose({.seed = 5}, 1, 2, 9).projection, expose({.seed = 6}, 1, 2, 9).projection);
  EXPECT_NE(expose({.seed = 5}, 1, 2, 9).projection, expose({.seed = 5}, 1, 3, 9).projection);
}

}  // namespace
}  // namespace tomoloom
