// SPDX-License-Identifier: BSD-3-Clause
// Ray by ray against the same steps on a dense matrix.
#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/reconstruct/ray_engine.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kArtColumns = 7, kArtAngles = 11, kArtPixels = kArtColumns * kArtColumns;
constexpr std::size_t kArtSlices = kRaySlices<double>, kArtRays = kArtAngles * kArtColumns;

class RayArt : public testing::Test {
 protected:
  RayArt() {
    for (std::size_t a = 0; a < kArtAngles; ++a) {
      geometry.theta.push_back(0.3 * static_cast<double>(a) - 0.2);
    }
    const RayPair<double> pair(geometry);
    std::vector<double> slice(pair.slice_size()), sinogram(pair.sinogram_size());
    for (std::size_t j = 0; j < kArtPixels; ++j) {
      std::fill(slice.begin(), slice.end(), 0);
      slice[j * kArtSlices] = 1;
      pair.project(slice.data(), sinogram.data(), serial);
      for (std::size_t i = 0; i < kArtRays; ++i) rows[i].push_back(sinogram[i * kArtSlices]);
    }
  }
  [[nodiscard]] double seen(std::size_t ray, const std::vector<double>& x) const {
    double sum = 0;
    for (std::size_t j = 0; j < kArtPixels; ++j) sum += rows[ray][j] * x[j];
    return sum;
  }
  [[nodiscard]] std::vector<double> dense(const std::vector<double>& b, std::size_t rounds) const {
    std::vector<double> x(kArtPixels, 0);
    for (std::size_t step = 0; step < rounds * kArtAngles; ++step) {
      const std::size_t a = step % kArtAngles;
      const double far = geometry.weight.empty() ? 1 : geometry.weight[a];
      for (std::size_t first = 0; first < 3; ++first) {
        for (std::size_t ray = a * kArtColumns + first; ray < (a + 1) * kArtColumns; ray += 3) {
          const double square = seen(ray, rows[ray]);
          if (square < 1e-6) continue;
          const double size = far * (b[ray] - seen(ray, x)) / square;
          for (std::size_t j = 0; j < kArtPixels; ++j) x[j] += size * rows[ray][j];
        }
      }
    }
    return x;
  }
  [[nodiscard]] std::vector<double> iterated(const std::vector<double>& b, std::size_t rounds) {
    RayEngine<double> engine(geometry, {.method = RayMethod::kArt, .iterations = rounds});
    std::vector<double> sinogram(kArtRays * kArtSlices), slice(kArtPixels * kArtSlices), out;
    for (std::size_t i = 0; i < sinogram.size(); ++i) sinogram[i] = b[i / kArtSlices];
    engine.solve(sinogram.data(), slice.data(), serial);
    for (std::size_t j = 0; j < kArtPixels; ++j) out.push_back(slice[j * kArtSlices + 5]);
    return out;
  }

  SerialExecutor serial;
  Geometry geometry{.columns = kArtColumns, .theta = {}, .centre = 3.2};
  std::vector<std::vector<double>> rows{kArtRays};
  const CounterRng rng{8, 1};
};

TEST_F(RayArt, TakesTheStepsOfOneRayAfterTheOther) {
  std::vector<double> b(kArtRays);
  for (std::size_t i = 0; i < kArtRays; ++i) b[i] = rng.normal(i);
  const auto got = iterated(b, 3), want = dense(b, 3);
  for (std::size_t j = 0; j < kArtPixels; ++j) EXPECT_NEAR(got[j], want[j], 1e-11);
  for (std::size_t a = 0; a < kArtAngles; ++a) geometry.weight.push_back(a == 4 ? 0 : 0.5);
  const auto half = iterated(b, 2), want_half = dense(b, 2);
  for (std::size_t j = 0; j < kArtPixels; ++j) EXPECT_NEAR(half[j], want_half[j], 1e-11);
}

TEST_F(RayArt, EndsWhereAllRaysAgreeIfTheyCan) {
  std::vector<double> truth(kArtPixels), b(kArtRays);
  for (std::size_t j = 0; j < kArtPixels; ++j) truth[j] = rng.uniform(j);
  for (std::size_t i = 0; i < kArtRays; ++i) b[i] = seen(i, truth);
  const auto got = iterated(b, 4000);
  for (std::size_t i = 0; i < kArtRays; ++i) EXPECT_NEAR(seen(i, got), b[i], 1e-5);
}

}  // namespace
}  // namespace tomoloom
