// SPDX-License-Identifier: BSD-3-Clause
// What comes back is within the bounds that the coders state.
#include "fiberloom/recipes/redshift_page/quantise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fiberloom/redshift/candidate.hpp"

namespace fiberloom::redshift_page {
namespace {

struct Sample {
  std::vector<double> flux, sigma, model;
  Sample(double level, double spread, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 3000; ++i) {
      const double s = i % 50 == 7 ? 0 : std::exp(spread * normal(random));
      sigma.push_back(s);
      model.push_back(level * (1 + 0.5 * std::sin(i / 40.0)) + (i == 1500 ? 40 * level : 0));
      flux.push_back(s > 0 ? model.back() + s * normal(random) : 0);
    }
  }
};

class Quantise : public testing::TestWithParam<std::pair<double, double>> {};

TEST_P(Quantise, SpectraAndModelsComeBackWithinTheirBounds) {
  const Sample sample(GetParam().first, GetParam().second, 3);
  Bytes bytes;
  const SigmaCode code = sigma_code(sample.sigma);
  encode_sigma(sample.sigma, code, bytes);
  const std::vector<double> sigma = decode_sigma(bytes, code);
  const double step = flux_step(sample.flux, sigma), size = model_step(sample.model, sigma);
  Bytes flux_bytes, model_bytes;
  encode_flux(sample.flux, sigma, step, flux_bytes);
  encode_model(sample.model, size, model_bytes);
  const std::vector<double> flux = decode_flux(flux_bytes, sigma, step);
  const std::vector<double> model = decode_model(model_bytes, size);
  ASSERT_EQ(flux.size(), sample.flux.size());
  for (std::size_t i = 0; i < flux.size(); ++i) {
    EXPECT_EQ(sigma[i] == 0, sample.sigma[i] == 0) << i;
    if (sigma[i] > 0) {
      EXPECT_LE(std::abs(std::log2(sigma[i] / sample.sigma[i])), 0.5001 * code.step) << i;
      EXPECT_LE(std::abs(flux[i] - sample.flux[i]), 0.5001 * step * sigma[i]) << i;
    }
    EXPECT_LE(std::abs(model[i] - sample.model[i]), 0.5001 * size) << i;
  }
  if (GetParam().second < 1) {
    EXPECT_EQ(code.step, SigmaCode::kStep);
  }
}

INSTANTIATE_TEST_SUITE_P(BrightAndFaint, Quantise,
                         testing::Values(std::pair{0.0, 0.3}, std::pair{3.0, 0.3},
                                         std::pair{-3.0, 2.0}, std::pair{1e5, 0.1},
                                         std::pair{1e-12, 0.3}));

TEST(QuantiseSteps, AFaintSpectrumIsHeldToATenthOfSigma) {
  const Sample sample(3, 0.3, 4);
  EXPECT_EQ(flux_step(sample.flux, sample.sigma), kFluxStep);
  EXPECT_LT(model_step(sample.model, sample.sigma), 0.05);
}

TEST(QuantiseChi2, ComesBackToHalfAStepAndSaysWhereThereIsNone) {
  std::vector<double> chi2{9000, 8000, 8000.5, 1e6, redshift::kHugeChi2, NAN, 8100};
  Bytes bytes;
  encode_chi2(chi2, 8000, bytes);
  const std::vector<double> back = decode_chi2(bytes, 8000);
  for (const std::size_t i : {0U, 1U, 2U, 3U, 6U}) {
    EXPECT_NEAR(std::log2(1 + back[i] - 8000), std::log2(1 + chi2[i] - 8000), 0.5001 * kChi2Step);
  }
  EXPECT_TRUE(std::isnan(back[4]) && std::isnan(back[5]));
}

TEST(QuantiseAbsurd, WhatIsNoNumberIsNothing) {
  const double big = 1e300;
  const std::vector<double> flux{NAN, INFINITY, big, 1}, sigma{1, NAN, INFINITY, 1};
  Bytes bytes;
  const SigmaCode code = sigma_code(sigma);
  encode_sigma(sigma, code, bytes);
  const std::vector<double> back = decode_sigma(bytes, code);
  EXPECT_EQ(back[1], 0);
  EXPECT_EQ(back[2], 0);
  Bytes more;
  encode_flux(flux, back, flux_step(flux, back), more);
  encode_model(flux, model_step(flux, back), more);
  EXPECT_EQ(more.size(), 4 * flux.size());
  EXPECT_EQ(sigma_code(std::vector<double>(5, 0.0)).low, 1);
}

}  // namespace
}  // namespace fiberloom::redshift_page
