// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/stripe.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tomoloom {
namespace {

constexpr std::size_t kHeight = 40, kWidth = 50;

/// Smooth, different at each angle, with a stripe of this height at column 20.
std::vector<float> sinogram(float stripe) {
  std::vector<float> out;
  for (std::size_t a = 0; a < kHeight; ++a) {
    for (std::size_t x = 0; x < kWidth; ++x) {
      const double t =
          (static_cast<double>(x) - 25 - 5 * std::sin(0.1 * static_cast<double>(a))) / 15;
      out.push_back(static_cast<float>(std::exp(-t * t)) + (x == 20 ? stripe : 0));
    }
  }
  return out;
}

TEST(RemoveStripeSf, TakesAStripeAwayAllButItsShareInTheMean) {
  const auto clean = sinogram(0);
  auto striped = sinogram(0.5F), smooth = clean;
  remove_stripe_sf({striped.data(), kHeight, kWidth, kWidth}, 5);
  remove_stripe_sf({smooth.data(), kHeight, kWidth, kWidth}, 5);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const std::size_t x = i % kWidth;
    // the running mean of 5 columns keeps a fifth of the stripe and gives it to its neighbours
    EXPECT_NEAR(striped[i] - smooth[i], x >= 18 && x <= 22 ? 0.1 : 0, 1e-5);
    EXPECT_NEAR(smooth[i], clean[i], 0.02);
  }
}

TEST(RemoveStripeSf, AWindowOfOneChangesNothing) {
  const auto before = sinogram(0.3F);
  auto after = before;
  remove_stripe_sf({after.data(), kHeight, kWidth, kWidth}, 1);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace tomoloom
