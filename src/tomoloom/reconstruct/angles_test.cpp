// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/angles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

namespace tomoloom {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(AngleWeights, EvenAnglesWeighTheSameWithOrWithoutTheLastOne) {
  std::vector<double> open, closed;
  for (int i = 0; i < 12; ++i) open.push_back(i * kPi / 12);
  closed = open;
  closed.push_back(kPi);
  for (const double w : angle_weights(open)) EXPECT_NEAR(w, kPi / 12, 1e-12);
  const auto weights = angle_weights(closed);
  for (std::size_t i = 1; i < 12; ++i) EXPECT_NEAR(weights[i], kPi / 12, 1e-12);
  EXPECT_NEAR(weights.front(), kPi / 24, 1e-9);  // 0 and 180 degrees see the same lines
  EXPECT_NEAR(weights.back(), kPi / 24, 1e-9);
}

TEST(AngleWeights, AWholeTurnIsTwoHalfOnes) {
  std::vector<double> theta;
  for (int i = 0; i < 20; ++i) theta.push_back(i * 2 * kPi / 20 - 7);
  for (const double w : angle_weights(theta)) EXPECT_NEAR(w, kPi / 20, 1e-9);
}

TEST(AngleWeights, UnevenAnglesCoverTheHalfTurnOnce) {
  const std::vector<double> theta{0.1, 0.3, 0.35, 0.9, 1.5, 2.0, 2.6, 2.9};
  const auto weights = angle_weights(theta);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), kPi, 1e-12);
  EXPECT_NEAR(weights[1], 0.125, 1e-12);
}

TEST(AngleWeights, AMissingWedgeIsNotGivenToItsEdges) {
  std::vector<double> theta;
  for (int i = 0; i <= 60; ++i) theta.push_back(i * 2.0 / 60);
  for (const double w : angle_weights(theta)) EXPECT_NEAR(w, 2.0 / 60, 1e-9);
}

TEST(AngleWeights, TwoMissingWedgesAreNot) {
  std::vector<double> theta;
  for (int i = 0; i <= 20; ++i) {
    theta.push_back(i * 0.02);
    theta.push_back(1.5 + i * 0.02);
  }
  for (const double w : angle_weights(theta)) EXPECT_NEAR(w, 0.02, 1e-9);
}

TEST(AngleWeights, LinesThatAreNearlyTheSameInSeveralTurnsShareWhatOneWouldHave) {
  constexpr int kLines = 91;
  for (const int passes : {2, 3, 4, 8}) {
    for (const double off : {1e-7, 1e-5, 1e-3}) {  // rad, as of float32 and of an encoder
      std::vector<double> theta;
      for (int i = 0; i < passes * kLines + 2; ++i) {  // and two more
        theta.push_back(i * kPi / kLines + off * std::sin(7.0 * i));
      }
      const auto weights = angle_weights(theta);
      EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), kPi, 1e-9);
    }
  }
}

TEST(AngleWeights, AnglesAtRandomCoverTheHalfTurnOnce) {
  std::vector<double> theta;
  for (int i = 0; i < 400; ++i) theta.push_back(1e4 * std::sin(1 + 12.9898 * i));
  const auto weights = angle_weights(theta);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), kPi, 0.05);
}

TEST(AngleWeights, OneAngleStandsForAll) {
  EXPECT_EQ(angle_weights(std::vector<double>{1.0}), (std::vector<double>{kPi}));
  EXPECT_NEAR(angle_weights(std::vector<double>{0, kPi})[1], kPi / 2, 1e-12);
}

}  // namespace
}  // namespace tomoloom
