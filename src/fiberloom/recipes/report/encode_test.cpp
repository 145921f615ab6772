// SPDX-License-Identifier: BSD-3-Clause
// Numbers packed for a page come back as they should.
#include "fiberloom/recipes/report/encode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fiberloom/foundation.hpp"
#include "loom/files/gzip.hpp"

namespace fiberloom::report {
namespace {

std::vector<std::uint8_t> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> out;
  std::uint32_t bits = 0;
  int n = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6) | static_cast<std::uint32_t>(digits.find(c));
    n += 6;
    if (n < 8) continue;
    n -= 8;
    out.push_back(static_cast<std::uint8_t>(bits >> n));
  }
  return out;
}

TEST(ToHalf, IsTheInverseOfFromHalfForEveryFiniteHalf) {
  for (int h = 0; h < 65536; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    if (((half >> 10) & 31) == 31) continue;  // infinities and NaN
    ASSERT_EQ(to_half(from_half(half)), half) << h;
  }
}

TEST(ToHalf, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(from_half(to_half(1.0 + 0x1p-11)), 1.0);
  EXPECT_EQ(from_half(to_half(1.0 + 3 * 0x1p-11)), 1.0 + 0x1p-9);
  EXPECT_EQ(from_half(to_half(2047.9)), 2048.0);  // carries into the exponent
  for (double v = 1e-4; v < 6e4; v *= 1.0137) {
    EXPECT_NEAR(from_half(to_half(-v)), -v, v * 0x1p-11);
  }
}

TEST(ToHalf, KeepsWhatHasNoHalfInBounds) {
  EXPECT_EQ(from_half(to_half(1e9)), 65504.0);
  EXPECT_EQ(from_half(to_half(-std::numeric_limits<double>::infinity())), -65504.0);
  EXPECT_TRUE(std::isnan(from_half(to_half(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_EQ(to_half(0.0), 0);
  EXPECT_EQ(to_half(1e-12), 0);
  EXPECT_EQ(from_half(to_half(0x1p-24)), 0x1p-24);  // the smallest
}

TEST(KeepBits, BoundsTheRelativeError) {
  for (double v = 1e-3; v < 1e3; v *= 1.0137) EXPECT_NEAR(keep_bits(v, 6), v, v * 0x1p-7);
  EXPECT_EQ(keep_bits(0.0, 6), 0.0);
}

TEST(Base64, GivesTheKnownTexts) {
  const std::string word = "foobar";
  const char* const expected[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t n = 0; n <= word.size(); ++n) {
    EXPECT_EQ(base64({reinterpret_cast<const std::uint8_t*>(word.data()), n}), expected[n]);
  }
}

TEST(PackHalves, PutsLowBytesFirst) {
  const std::vector<std::uint16_t> halves{0x1234, 0xabcd, 0x0001};
  const auto planes = gunzip(from_base64(pack_halves(halves)), "packed");
  const std::vector<std::uint8_t> expected{0x34, 0xcd, 0x01, 0x12, 0xab, 0x00};
  EXPECT_TRUE(
      std::equal(expected.begin(), expected.end(), planes.view().begin(), planes.view().end()));
}

}  // namespace
}  // namespace fiberloom::report
