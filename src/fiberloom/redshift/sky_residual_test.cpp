// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/sky_residual.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/rng.hpp"

namespace fiberloom::redshift {
namespace {

constexpr std::size_t kPixels = 2400;

/// Lines of the sky, 160 of them, as they are `shift` pixels further on.
std::vector<double> sky(double shift = 0) {
  const CounterRng rng(3, 1);
  std::vector<double> out(kPixels, 0.0);
  for (std::size_t line = 0; line < 160; ++line) {
    const auto u = rng.uniform2(line);
    const double at = kPixels * u[0] + shift, height = 40 * u[1] * u[1];
    for (std::size_t i = 0; i < kPixels; ++i) {
      const double d = (static_cast<double>(i) - at) / 1.4;
      if (std::abs(d) < 8) out[i] += height * std::exp(-0.5 * d * d);
    }
  }
  return out;
}

/// A band of lines too near to each other to see between: 115 pixels, as that of oxygen at 8650
/// Angstrom.
std::vector<double> with_band(std::vector<double> lines) {
  for (std::size_t i = 1300; i < 1415; ++i) {
    lines[i] += 25 + 10 * std::sin(0.4 * static_cast<double>(i));
  }
  return lines;
}

/// An object with the noise of the sky's light, and of its own.
struct Sample {
  Block block;
  std::vector<double> clean;
};

/// `left`: part of the sky, `shift` pixels, that its subtraction left.
Sample sample(const std::vector<double>& object, double left, double shift, std::uint64_t seed) {
  const std::vector<double> lines = sky(), moved = sky(shift);
  Sample out;
  out.block.pixels = kPixels;
  out.block.weight = Buffer<double>(kPixels);
  out.block.flux = Buffer<double>(kPixels);
  const CounterRng rng(seed, 2);
  for (std::size_t i = 0; i < kPixels; ++i) {
    const double variance = 1 + lines[i] + std::abs(object[i]);
    out.block.weight[i] = 1 / variance;
    out.clean.push_back(object[i] + std::sqrt(variance) * rng.normal(i));
    out.block.flux[i] = out.clean[i] + (1 + left) * moved[i] - lines[i];
  }
  return out;
}

/// chi2 of what is in the flux beside object and noise.
double chi2_of_residual(const Sample& s) {
  double sum = 0;
  for (std::size_t i = 0; i < kPixels; ++i) {
    sum += s.block.weight[i] * std::pow(s.block.flux[i] - s.clean[i], 2);
  }
  return sum;
}

void mend(Block& b) { subtract_sky_residual(b, sky_shapes(b, usual_variance(b))); }

std::vector<double> continuum(double height) {
  std::vector<double> out(kPixels);
  for (std::size_t i = 0; i < kPixels; ++i) {
    out[i] = height * (1 + 0.3 * std::sin(static_cast<double>(i) / 200));
  }
  return out;
}

/// Narrow lines and bands on a continuum.
std::vector<double> rough(double height) {
  std::vector<double> out = continuum(height);
  const CounterRng rng(9, 4);
  for (std::size_t line = 0; line < 60; ++line) {
    const auto u = rng.uniform2(line);
    for (std::size_t i = 0; i < kPixels; ++i) {
      const double d = (static_cast<double>(i) - kPixels * u[0]) / (1.5 + 30 * u[1] * u[1]);
      if (std::abs(d) < 8) out[i] *= 1 - 0.5 * std::exp(-0.5 * d * d);
    }
  }
  for (const std::size_t at : {500U, 506U, 1700U}) {
    for (std::size_t i = at - 8; i < at + 8; ++i) {
      const double d = (static_cast<double>(i) - static_cast<double>(at)) / 1.5;
      out[i] += 30 * height * std::exp(-0.5 * d * d);
    }
  }
  return out;
}

TEST(SkyResidual, OfTooMuchSkyAndOfAShiftNextToNothingIsLeft) {
  for (const auto& [left, shift] :
       {std::pair{0.08, 0.0}, {-0.08, 0.0}, {0.0, 0.05}, {0.05, -0.04}}) {
    for (const double height : {0.0, 3.0, 50.0}) {
      Sample s = sample(continuum(height), left, shift, 1);
      const double before = chi2_of_residual(s);
      mend(s.block);
      EXPECT_LT(chi2_of_residual(s), 0.1 * before + 20) << left << " " << shift << " " << height;
    }
  }
}

TEST(SkyResidual, ABandWiderThanAHundredPixelsIsNoContinuum) {
  const std::vector<double> lines = with_band(sky());
  Sample s;
  s.block.pixels = kPixels;
  s.block.weight = Buffer<double>(kPixels);
  s.block.flux = Buffer<double>(kPixels);
  const CounterRng rng(4, 2);
  for (std::size_t i = 0; i < kPixels; ++i) {
    s.block.weight[i] = 1 / (1 + lines[i]);
    s.clean.push_back(std::sqrt(1 + lines[i]) * rng.normal(i));
    s.block.flux[i] = s.clean[i] + 0.08 * lines[i];
  }
  const std::vector<double> usual = usual_variance(s.block);
  for (std::size_t i = 1300; i < 1415; ++i) EXPECT_LT(usual[i], 1.5) << i;
  const double before = chi2_of_residual(s);
  mend(s.block);
  EXPECT_LT(chi2_of_residual(s), 0.1 * before);
}

TEST(SkyResidual, TheUsualVarianceIsTheLowerQuartileOfThePixelsAround) {
  Sample s = sample(continuum(0), 0, 0, 3);
  for (std::size_t i = 0; i < kPixels; i += 7) s.block.weight[i] = 0;
  const std::vector<double> usual = usual_variance(s.block);
  for (std::size_t i = 0; i < kPixels; ++i) {
    const std::size_t middle = i / 10 * 10;  // one value serves ten pixels
    std::vector<double> near;
    for (std::size_t k = middle - std::min<std::size_t>(middle, 150);
         k < std::min<std::size_t>(middle + 151, kPixels); ++k) {
      if (s.block.weight[k] > 0) near.push_back(1 / s.block.weight[k]);
    }
    std::sort(near.begin(), near.end());
    ASSERT_EQ(usual[i], near[near.size() / 4]) << i;
  }
}

TEST(SkyResidual, AnObjectOnAWellSubtractedSkyStaysAsItIs) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const auto& object : {continuum(0), continuum(20), rough(1), rough(6)}) {
      Sample s = sample(object, 0, 0, seed);
      mend(s.block);
      EXPECT_LT(chi2_of_residual(s), 30);
      sum += chi2_of_residual(s) / 48;
    }
  }
  EXPECT_LT(sum, 6);  // two numbers are two, of noise alone
}

TEST(SkyResidual, LinesOfTheObjectThatOutshineTheSkyKeepTheirLight) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Sample s = sample(rough(200), 0.05, 0.02, seed);
    const std::vector<double> lit(s.block.flux.data(), s.block.flux.data() + kPixels);
    mend(s.block);
    for (const std::size_t at : {500U, 506U, 1700U}) EXPECT_EQ(s.block.flux[at], lit[at]) << seed;
  }
}

TEST(SkyResidual, WithoutASkyInTheVarianceNothingIsDone) {
  Sample s = sample(rough(3), 0, 0, 5);
  s.block.weight.fill(1);
  EXPECT_TRUE(sky_shapes(s.block, usual_variance(s.block)).empty());
  const std::vector<double> before(s.block.flux.data(), s.block.flux.data() + kPixels);
  mend(s.block);
  EXPECT_EQ(before, std::vector<double>(s.block.flux.data(), s.block.flux.data() + kPixels));
  s.block.weight.fill(0);
  mend(s.block);
  EXPECT_EQ(s.block.flux[7], before[7]);
}

}  // namespace
}  // namespace fiberloom::redshift
