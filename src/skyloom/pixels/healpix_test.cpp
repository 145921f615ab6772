// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/pixels/healpix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "loom/base/rng.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/pixels/test_golden_pixels.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

Direction golden(std::size_t i) {
  const double* q = kGoldenQuaternions + 4 * i;
  return {2 * (q[0] * q[2] + q[1] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]),
          1 - 2 * (q[0] * q[0] + q[1] * q[1])};
}

constexpr std::size_t kGolden = std::size(kGoldenNested1);

TEST(Healpix, FindsThePixelsOfHealpy) {
  const struct {
    std::int64_t nside;
    const std::int32_t *nested, *ring;
  } all[] = {{1, kGoldenNested1, kGoldenRing1},
             {64, kGoldenNested64, kGoldenRing64},
             {1024, kGoldenNested1024, kGoldenRing1024},
             {8192, kGoldenNested8192, kGoldenRing8192}};
  for (const auto& level : all) {
    const Healpix pixels(level.nside);
    for (std::size_t i = 0; i < kGolden; ++i) {
      EXPECT_EQ(pixels.nested(golden(i)), level.nested[i]) << level.nside << " " << i;
      EXPECT_EQ(pixels.ring(golden(i)), level.ring[i]) << level.nside << " " << i;
    }
  }
}

TEST(Healpix, CentresLieInTheirPixelsAndOrderingsAreInverse) {
  for (const std::int64_t nside : {1, 2, 4, 16, 128}) {
    const Healpix pixels(nside);
    std::vector<char> seen(static_cast<std::size_t>(pixels.pixels()), 0);
    for (std::int64_t p = 0; p < pixels.pixels(); ++p) {
      const auto pixel = static_cast<Pixel>(p);
      ASSERT_EQ(pixels.nested(pixels.centre(pixel)), pixel) << nside;
      ASSERT_EQ(pixels.at(pixels.place(pixel)), pixel) << nside;
      const Pixel ring = pixels.to_ring(pixel);
      ASSERT_EQ(pixels.to_nested(ring), pixel) << nside;
      ASSERT_EQ(seen[static_cast<std::size_t>(ring)]++, 0) << nside;
    }
  }
}

TEST(Healpix, RingsGoFromNorthToSouthAndEast) {
  const Healpix pixels(8);
  Direction last{0, 0, 1};
  double last_phi = 0;
  for (Pixel p = 0; p < pixels.pixels(); ++p) {
    const Direction to = pixels.centre(pixels.to_nested(p));
    double phi = std::atan2(to.y, to.x);
    if (phi < -1e-12) phi += 2 * std::numbers::pi;
    EXPECT_LE(to.z, last.z + 1e-15);
    if (to.z > last.z - 1e-12 && p > 0) {
      EXPECT_GT(phi, last_phi);
    }
    last = to;
    last_phi = phi;
  }
}

TEST(Healpix, PixelsHaveEqualArea) {
  const Healpix pixels(4);
  std::vector<int> hits(static_cast<std::size_t>(pixels.pixels()), 0);
  const CounterRng random(1, 2);
  constexpr int kDraws = 400000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const auto u = random.uniform2(i);
    const double z = 2 * u[0] - 1, r = std::sqrt(1 - z * z), phi = 2 * std::numbers::pi * u[1];
    ++hits[static_cast<std::size_t>(pixels.nested({r * std::cos(phi), r * std::sin(phi), z}))];
  }
  const double mean = kDraws / static_cast<double>(pixels.pixels());
  for (const int n : hits) EXPECT_NEAR(n, mean, 5 * std::sqrt(mean));
}

TEST(Healpix, KnowsThePoles) {
  const Healpix pixels(1024);
  EXPECT_LT(pixels.ring({0, 0, 1}), 4);
  EXPECT_GE(pixels.ring({0, 0, -1}), pixels.pixels() - 4);
  EXPECT_LT(pixels.ring({1e-12, 1e-12, 1}), 4);
  EXPECT_EQ(pixels.nested({3, 4, 5}), pixels.nested({0.3, 0.4, 0.5}));
}

TEST(Healpix, RefusesWhatIsNoNside) {
  using loom::test::thrown_by;
  for (const std::int64_t nside : {-1, 0, 3, 96, 16384}) {
    EXPECT_EQ(thrown_by([&] { (void)Healpix{nside}; }).status, kPixelisation) << nside;
  }
  EXPECT_EQ(nside_of(12 * 64 * 64), 64);
  EXPECT_EQ(thrown_by([] { (void)nside_of(100); }).status, kPixelisation);
  EXPECT_EQ(thrown_by([] { (void)nside_of(12 * 9); }).status, kPixelisation);
}

}  // namespace
}  // namespace skyloom
