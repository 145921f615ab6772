// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/catalogue/healpix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "fiberloom/foundation.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::catalogue {
namespace {

double uniform(std::uint64_t i, std::uint64_t stream) {
  return static_cast<double>(CounterRng(7, stream).block(i)[0]) / 4294967296.0;
}

/// Directions all over the sphere, many beside the poles and the borders of squares.
Direction anywhere(std::uint64_t i) {
  const double ra = i % 5 == 0 ? 45.0 * static_cast<double>(i % 9) : 360 * uniform(i, 1);
  double dec = std::asin(2 * uniform(i, 2) - 1) * 180 / M_PI;
  if (i % 7 == 0) dec = dec > 0 ? 90 - 1e-3 * uniform(i, 3) : -90 + 1e-3 * uniform(i, 3);
  if (i % 11 == 0) dec = std::asin(2.0 / 3) * 180 / M_PI;
  return direction(ra, dec);
}

double apart(const Direction& a, const Direction& b) {
  return std::sqrt(std::pow(a[0] - b[0], 2) + std::pow(a[1] - b[1], 2) + std::pow(a[2] - b[2], 2));
}

TEST(Healpix, CentresLieInTheirOwnPixels) {
  for (const int order : {0, 1, 3, 6}) {
    const std::int64_t pixels = 12LL << (2 * order);
    for (std::int64_t p = 0; p < pixels; ++p) {
      ASSERT_EQ(nested_pixel(pixel_centre(p, order), order), p) << "order " << order;
    }
  }
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const std::int64_t p = nested_pixel(anywhere(i));
    ASSERT_EQ(nested_pixel(pixel_centre(p, kOrder)), p) << i;
  }
}

TEST(Healpix, KnownPixelsOfTheStandard) {
  // The four pixels of Nside 1 around the north pole, then the equator's, then the south's.
  EXPECT_EQ(nested_pixel(direction(45, 60), 0), 0);
  EXPECT_EQ(nested_pixel(direction(135, 60), 0), 1);
  EXPECT_EQ(nested_pixel(direction(0, 0), 0), 4);
  EXPECT_EQ(nested_pixel(direction(90, 0), 0), 5);
  EXPECT_EQ(nested_pixel(direction(-45, -60), 0), 11);
  // Centres of Nside 2 by the paper's equations: ring 1 z = 11/12, ring 2 z = 2/3.
  EXPECT_NEAR(pixel_centre(3, 1)[2], 11.0 / 12, 1e-15);
  EXPECT_NEAR(pixel_centre(1, 1)[2], 2.0 / 3, 1e-15);
  EXPECT_NEAR(pixel_centre(0, 1)[2], 1.0 / 3, 1e-15);
}

TEST(Healpix, EachPixelLiesInThatOfTheCoarserOrder) {
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const Direction at = anywhere(i);
    const std::int64_t fine = nested_pixel(at);
    if (i % 11 == 0 || i % 5 == 0) continue;  // on a border rounding may say either side
    ASSERT_EQ(nested_pixel(at, 8), fine >> (2 * (kOrder - 8))) << i;
  }
}

TEST(Healpix, PixelsHaveEqualAreas) {
  std::vector<int> hits(12 * 16);
  constexpr int kDirections = 192 * 400;
  for (std::uint64_t i = 0; i < kDirections; ++i) {
    const Direction at =
        direction(360 * uniform(i, 4), std::asin(2 * uniform(i, 5) - 1) * 180 / M_PI);
    ++hits[static_cast<std::size_t>(nested_pixel(at, 2))];
  }
  for (const int n : hits) EXPECT_NEAR(n, 400, 6 * 20);
}

TEST(Healpix, AConeHasAllOfItsDirectionsInFewRanges) {
  for (std::uint64_t i = 0; i < 400; ++i) {
    const Direction centre = anywhere(i);
    const double radius = std::pow(10, -6 + 6 * uniform(i, 6));  // 0.2 arcsec to a radian
    const std::vector<PixelRange> ranges = cone_ranges(centre, radius);
    ASSERT_LE(ranges.size(), 120U) << radius;
    for (std::size_t k = 1; k < ranges.size(); ++k) {
      ASSERT_GT(ranges[k].first, ranges[k - 1].last + 1);
    }
    for (std::uint64_t j = 0; j < 50; ++j) {
      // a step of at most the radius: chords are shorter than arcs
      const Direction step = anywhere(1000 * i + j);
      Direction at;
      double norm = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        at[k] = centre[k] + 0.999 * radius * (j % 4 == 0 ? 1.0 : uniform(j, 7)) * step[k];
        norm += at[k] * at[k];
      }
      for (double& v : at) v /= std::sqrt(norm);
      const double chord = apart(at, centre);
      if (chord * chord > chord_squared(radius)) continue;
      const std::int64_t pixel = nested_pixel(at);
      bool found = false;
      for (const PixelRange& r : ranges) found |= r.first <= pixel && pixel <= r.last;
      ASSERT_TRUE(found) << "cone " << i << " of " << radius << ", direction " << j;
    }
  }
  EXPECT_EQ(cone_ranges(direction(0, 0), 4), (std::vector<PixelRange>{{0, (12LL << 40) - 1}}));
}

}  // namespace
}  // namespace fiberloom::catalogue
