// SPDX-License-Identifier: BSD-3-Clause
// The convolution against sums over a line that is cut into many pieces.
#include "tomoloom/reconstruct/shadow_convolution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/reconstruct/ray_pair.hpp"
#include "tomoloom/reconstruct/test_rays.hpp"

namespace tomoloom {
namespace {

/// The entry of two pixels, by its definition.
double overlap(const Geometry& geometry, double columns, double rows) {
  const std::size_t padded = padded_line(geometry.columns);
  const auto p = static_cast<double>(padded);
  double sum = 0;
  for (std::size_t a = 0; a < geometry.theta.size(); ++a) {
    const double apart = columns * std::cos(geometry.theta[a]) - rows * std::sin(geometry.theta[a]);
    for (std::size_t j = 0; j < padded / 2; ++j) {
      const double x = static_cast<double>(j) / p, h = shadow_response(x, geometry.theta[a]);
      sum += (j == 0 ? 1 : 2) * (geometry.weight.empty() ? 1 : geometry.weight[a]) * h * h / p *
             std::cos(2 * std::numbers::pi * x * apart);
    }
  }
  return sum;
}

/// What a detector's pixel sees of a square pixel: three boxes one after the other.
TEST(ShadowConvolution, TheResponseIsThatOfASquareBeforeAPixel) {
  for (const double theta : {0.0, 0.3, std::numbers::pi / 4, 1.9}) {
    const RayPair<double> pair({.columns = 9, .theta = {theta}, .centre = 4});
    constexpr std::size_t kSlices = kRaySlices<double>;
    std::vector<double> slice(pair.slice_size(), 0), seen(pair.sinogram_size());
    slice[(4 * 9 + 4) * kSlices] = 1;
    SerialExecutor serial;
    pair.project(slice.data(), seen.data(), serial);
    // a sum over samples sees the response and all that is a whole number of cycles beyond
    for (const double x : {0.0, 0.1, 0.35}) {
      double sampled = 0, folded = 0;
      for (int i = -4; i <= 4; ++i) {
        sampled += seen[static_cast<std::size_t>(i + 4) * kSlices] *
                   std::cos(2 * std::numbers::pi * x * i);
      }
      for (int m = -3000; m <= 3000; ++m) folded += shadow_response(x + m, theta);
      EXPECT_NEAR(sampled, folded, 1e-4) << theta << " " << x;
    }
  }
}

TEST(ShadowConvolution, OverlapsAreTheSumsOverFrequencies) {
  for (const std::size_t wide : {1U, 6U, 15U}) {
    Geometry geometry = evenly(wide, 7);
    geometry.weight = {1, 0.5, 2, 0, 1, 1, 3};
    const std::vector<double> overlaps = shadow_overlaps(geometry);
    const auto line = static_cast<int>(2 * wide - 1), last = static_cast<int>(wide - 1);
    for (int row = 0; row < line; ++row) {
      for (int column = 0; column < line; ++column) {
        ASSERT_NEAR(overlaps[static_cast<std::size_t>(row * line + column)],
                    overlap(geometry, column - last, row - last), 1e-10 * overlap(geometry, 0, 0))
            << wide << " " << column << " " << row;
      }
    }
  }
}

TEST(ShadowConvolution, IsTheSumOverAllPixels) {
  constexpr std::size_t kWide = 7, kPixels = kWide * kWide, kSlices = kRaySlices<double>;
  const Geometry geometry = evenly(kWide, 5);
  const CounterRng rng(1, 2);
  std::vector<double> slice(kPixels * kSlices), out(slice.size());
  for (std::size_t i = 0; i < slice.size(); ++i) slice[i] = rng.normal(i);
  ShadowConvolution<double> convolution(geometry);
  SerialExecutor serial;
  convolution.apply(slice.data(), out.data(), serial);
  for (std::size_t p = 0; p < kPixels; ++p) {
    for (const std::size_t l : {0U, 3U, 11U}) {
      double sum = 0;
      for (std::size_t q = 0; q < kPixels; ++q) {
        sum += slice[q * kSlices + l] *
               overlap(geometry, static_cast<double>(p % kWide) - static_cast<double>(q % kWide),
                       static_cast<double>(p / kWide) - static_cast<double>(q / kWide));
      }
      ASSERT_NEAR(out[p * kSlices + l], sum, 1e-9 * convolution.bound()) << p;
    }
  }
  convolution.apply(slice.data(), slice.data(), *make_executor(3));
  EXPECT_EQ(slice, out);
}

}  // namespace
}  // namespace tomoloom
