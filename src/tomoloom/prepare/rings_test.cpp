// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/rings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tomoloom {
namespace {

constexpr std::size_t kSide = 96;
constexpr double kMiddle = 47.5;

/// A soft disc and a block off the axis.
std::vector<float> body() {
  std::vector<float> out(kSide * kSide);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double v = static_cast<double>(i / kSide) - kMiddle;
    const double u = static_cast<double>(i % kSide) - kMiddle;
    out[i] = static_cast<float>(1 / (1 + std::exp((std::hypot(u, v) - 41))));
    if (std::abs(u - 15) < 4 && std::abs(v + 8) < 6) out[i] += 1;
  }
  return out;
}

std::vector<float> ringed(std::vector<float> slice, double row, double column) {
  for (std::size_t i = 0; i < slice.size(); ++i) {
    const double radius =
        std::hypot(static_cast<double>(i / kSide) - row, static_cast<double>(i % kSide) - column);
    const auto ring = [&](double at) { return std::exp(-(radius - at) * (radius - at) / 3); };
    slice[i] += static_cast<float>(0.1 * ring(27) - 0.08 * ring(4));
  }
  return slice;
}

double apart(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::pow(static_cast<double>(a[i] - b[i]), 2);
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

TEST(RemoveRings, RingsGoAndTheBodyStays) {
  const std::vector<float> clean = body(), spoiled = ringed(clean, kMiddle, kMiddle);
  std::vector<float> mended = spoiled;
  remove_rings(mended, kSide, kMiddle, kMiddle, {.width = 8, .threshold = 0.3});
  EXPECT_LT(apart(mended, clean), 0.5 * apart(spoiled, clean));
  std::vector<float> left = clean;
  remove_rings(left, kSide, kMiddle, kMiddle, {.width = 8, .threshold = 0.3});
  EXPECT_LT(apart(left, clean), 0.3 * apart(spoiled, clean));
}

TEST(RemoveRings, AreAroundTheMiddleThatIsGiven) {
  const std::vector<float> clean = body(), spoiled = ringed(clean, 45, 49);
  std::vector<float> right = spoiled, wrong = spoiled;
  remove_rings(right, kSide, 45, 49, {.width = 8, .threshold = 0.3});
  remove_rings(wrong, kSide, 51, 43, {.width = 8, .threshold = 0.3});
  EXPECT_LT(apart(right, clean), 0.6 * apart(spoiled, clean));
  EXPECT_GT(apart(wrong, clean), 1.2 * apart(right, clean));
}

TEST(RemoveRings, AnArcIsNoRing) {
  std::vector<float> arc(kSide * kSide, 1);
  for (std::size_t i = 0; i < arc.size(); ++i) {
    const double v = static_cast<double>(i / kSide) - kMiddle;
    const double u = static_cast<double>(i % kSide) - kMiddle;
    const double off = std::hypot(u, v) - 25;
    if (std::abs(std::atan2(v, u)) < 0.1) arc[i] += static_cast<float>(std::exp(-off * off / 3));
  }
  std::vector<float> same = arc;
  remove_rings(same, kSide, kMiddle, kMiddle, {.width = 8, .threshold = 0, .arc_deg = 60});
  EXPECT_LT(apart(same, arc), 0.4 * apart(arc, std::vector<float>(arc.size(), 1)));
}

TEST(RemoveRings, WhatIsAskedForNothingChangesNothing) {
  std::vector<float> slice = ringed(body(), kMiddle, kMiddle), same = slice;
  remove_rings(same, kSide, kMiddle, kMiddle, {});
  EXPECT_EQ(same, slice);
  std::vector<float> corner = slice;
  remove_rings(corner, kSide, kMiddle, kMiddle, {.width = 4});
  EXPECT_EQ(corner[0], slice[0]);
}

}  // namespace
}  // namespace tomoloom
