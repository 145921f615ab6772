// SPDX-License-Identifier: BSD-3-Clause
// What a detector sees of slices, against the pair A, A^T of slices as wide as it.
#include "tomoloom/reconstruct/project.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/reconstruct/ray_pair.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kRows = 35;  // more than a group

std::vector<float> some_slices(std::size_t size) {
  const CounterRng rng(7, 0);
  std::vector<float> out(kRows * size * size);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(static_cast<double>(rng.block(i)[0]) / 4294967296.0);
  }
  return out;
}

Geometry some_geometry(std::size_t columns, double centre) {
  Geometry geometry{.columns = columns, .theta = {}, .centre = centre};
  for (int a = 0; a < 37; ++a) geometry.theta.push_back(0.2 * a - 1);
  return geometry;
}

/// [angle][slice][column].
std::vector<float> projected(const Geometry& geometry, const std::vector<float>& slices,
                             std::size_t size, Executor& executor = serial_executor()) {
  std::vector<float> out(geometry.theta.size() * kRows * geometry.columns, -1);
  project_slices(geometry, {.data = slices.data(), .count = kRows, .size = size},
                 {.data = out.data(),
                  .angle_stride = kRows * geometry.columns,
                  .slice_stride = geometry.columns},
                 executor);
  return out;
}

/// The same of slice 33 by RayPair, whose slices are `wide` columns, the slice in their middle.
std::vector<double> by_pair(Geometry geometry, const std::vector<float>& slices, std::size_t size,
                            std::size_t wide) {
  geometry.columns = wide;
  const RayPair<double> pair(geometry);
  constexpr std::size_t kSide = kRaySlices<double>;
  std::vector<double> slice(pair.slice_size()), line(pair.sinogram_size());
  const std::size_t edge = (wide - size) / 2;
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) {
      slice[((y + edge) * wide + x + edge) * kSide] =
          static_cast<double>(slices[(33 * size + y) * size + x]);
    }
  }
  pair.project(slice.data(), line.data(), serial_executor());
  std::vector<double> out;
  for (std::size_t i = 0; i < line.size(); i += kSide) out.push_back(line[i]);
  return out;
}

TEST(ProjectSlices, IsThePairOnADetectorOfAnyWidth) {
  for (const auto& [size, columns, wide] : {std::array<std::size_t, 3>{9, 9, 9},
                                            {9, 15, 15},
                                            {9, 14, 15},
                                            {10, 17, 18},
                                            {12, 7, 12},
                                            {1, 1, 1}}) {
    const Geometry geometry = some_geometry(columns, static_cast<double>(columns) / 2 - 0.3);
    const std::vector<float> slices = some_slices(size);
    const std::vector<float> got = projected(geometry, slices, size);
    const std::vector<double> want = by_pair(geometry, slices, size, wide);
    for (std::size_t a = 0; a < geometry.theta.size(); ++a) {
      for (std::size_t x = 0; x < columns; ++x) {
        ASSERT_NEAR(static_cast<double>(got[(a * kRows + 33) * columns + x]), want[a * wide + x],
                    1e-5)
            << size << " in " << columns << ", angle " << a << ", column " << x;
      }
    }
  }
}

TEST(ProjectSlices, BytesDoNotDependOnThreadsAndOnePixelWithoutANumberIsOne) {
  std::vector<float> slices = some_slices(9);
  const Geometry geometry = some_geometry(12, 5.5);
  const std::vector<float> one = projected(geometry, slices, 9);
  EXPECT_EQ(projected(geometry, slices, 9, *make_executor(3)), one);
  slices[40] = 0;
  const std::vector<float> without = projected(geometry, slices, 9);
  slices[40] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(projected(geometry, slices, 9), without);
  EXPECT_NE(without, one);
}

}  // namespace
}  // namespace tomoloom
