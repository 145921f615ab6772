// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/polynomial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace skyloom {
namespace {

constexpr std::size_t kSamples = 500;

std::vector<double> wave() {
  std::vector<double> values(kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) values[i] = std::sin(0.3 * static_cast<double>(i) + 1);
  return values;
}

/// Powers of the time itself, from 0 to 1: the oracle's own polynomials.
double power(std::size_t i, std::size_t k) {
  return std::pow(static_cast<double>(i) / kSamples, static_cast<double>(k));
}

TEST(Polynomial, TakesOutWhatIsOne) {
  std::vector<double> values(kSamples);
  const std::vector<std::uint8_t> flags(kSamples, 0);
  for (std::size_t i = 0; i < kSamples; ++i) {
    for (std::size_t k = 0; k <= 5; ++k) values[i] += (3.0 - static_cast<double>(k)) * power(i, k);
  }
  std::vector<double> less = values;
  ASSERT_TRUE(subtract_polynomial(5, values, flags));
  for (const double value : values) EXPECT_NEAR(value, 0, 1e-14);
  ASSERT_TRUE(subtract_polynomial(4, less, flags));
  double most = 0;
  for (const double value : less) most = std::max(most, std::fabs(value));
  EXPECT_GT(most, 1e-3);  // an order less does not reach
}

TEST(Polynomial, LeavesNothingAlongAnyPowerOfTheGoodSamples) {
  std::vector<double> values = wave();
  std::vector<std::uint8_t> flags(kSamples, 0);
  for (std::size_t i = 100; i < 330; ++i) flags[i] = 4;
  for (std::size_t i = 0; i < kSamples; i += 7) flags[i] = 1;
  ASSERT_TRUE(subtract_polynomial(6, values, flags));
  for (std::size_t k = 0; k <= 6; ++k) {
    double sum = 0;
    for (std::size_t i = 0; i < kSamples; ++i) sum += flags[i] == 0 ? values[i] * power(i, k) : 0;
    EXPECT_NEAR(sum, 0, 1e-11) << k;
  }
}

/// Made with TOAST 3.0.6, filter_polynomial of its compiled kernels.
TEST(Polynomial, IsThePeers) {
  std::vector<double> values(60);
  std::vector<std::uint8_t> flags(60, 0);
  for (std::size_t i = 0; i < 60; ++i) {
    const auto t = static_cast<double>(i);
    values[i] = std::sin(0.3 * t + 1) + 0.01 * t;
    flags[i] = (i >= 10 && i < 25) || i % 7 == 0 ? 1 : 0;
  }
  ASSERT_TRUE(subtract_polynomial(3, values, flags));
  EXPECT_NEAR(values[0], -0.49354454672258624, 1e-14);  // flagged
  EXPECT_NEAR(values[1], -0.16398436836782448, 1e-14);
  EXPECT_NEAR(values[12], -0.7503240305252876, 1e-14);  // flagged
  EXPECT_NEAR(values[30], -0.332538477974177, 1e-14);
  EXPECT_NEAR(values[59], 0.7771042755609698, 1e-14);
}

TEST(Polynomial, DoesNotAskWhatIsFlagged) {
  std::vector<std::uint8_t> flags(kSamples, 0);
  for (std::size_t i = 50; i < 90; ++i) flags[i] = 1;
  std::vector<double> plain = wave(), wild = wave();
  for (std::size_t i = 50; i < 90; ++i) wild[i] += 1e6;
  wild[60] = NAN;
  wild[7] = INFINITY;  // not flagged: left out by its value
  std::vector<std::uint8_t> more = flags;
  more[7] = 1;
  ASSERT_TRUE(subtract_polynomial(3, plain, more));
  ASSERT_TRUE(subtract_polynomial(3, wild, flags));
  for (std::size_t i = 0; i < kSamples; ++i) {
    if (more[i] == 0) {
      EXPECT_EQ(wild[i], plain[i]) << i;
    }
  }
  EXPECT_NEAR(wild[55] - plain[55], 1e6, 1e-6);  // flagged samples lose the polynomial as well
}

TEST(Polynomial, SaysWhereTheFitFailsAndChangesNothing) {
  std::vector<double> values = wave();
  std::vector<std::uint8_t> flags(kSamples, 1);
  flags[10] = flags[200] = 0;
  EXPECT_FALSE(subtract_polynomial(2, values, flags));
  EXPECT_EQ(values, wave());
  flags.assign(kSamples, 1);  // enough in number, but all in one place
  for (std::size_t i = 0; i < 12; ++i) flags[i] = 0;
  EXPECT_FALSE(subtract_polynomial(8, values, flags));
  EXPECT_EQ(values, wave());
  EXPECT_FALSE(subtract_polynomial(0, std::span<double>{}, {}));
}

}  // namespace
}  // namespace skyloom
