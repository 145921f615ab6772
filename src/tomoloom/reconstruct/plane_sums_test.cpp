// SPDX-License-Identifier: BSD-3-Clause
// Planes without the volume against the slices that the exact plan makes.
#include "tomoloom/reconstruct/plane_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/direct.hpp"
#include "tomoloom/simulate/phantom.hpp"

namespace tomoloom {
namespace {

TEST(PlaneSums, ArePlanesOfTheVolume) {
  constexpr std::size_t kPlaneRows = 40, kPlaneColumns = 48, kPlaneAngles = 90, kCutSlice = 35;
  constexpr double kPlaneAxis = 25.2;
  SerialExecutor serial;
  std::vector<double> theta, line(kPlaneColumns);
  std::vector<float> projections;
  const Phantom body{
      {.value = 1, .u = 0.2, .v = -0.1, .semi_u = 0.5, .semi_v = 0.3, .semi_z = 0.95}};
  const Sight sight{
      .columns = kPlaneColumns, .rows = kPlaneRows, .centre = kPlaneAxis, .scale = 0.02};
  for (std::size_t a = 0; a < kPlaneAngles; ++a) {
    theta.push_back(std::numbers::pi / kPlaneAngles * static_cast<double>(a));
    for (std::size_t r = 0; r < kPlaneRows; ++r) {
      project_row(body, sight, r, theta[a], line);
      projections.insert(projections.end(), line.begin(), line.end());
    }
  }
  PlaneSums sums(kPlaneRows, kPlaneColumns, kPlaneAxis,
                 {.slice = kCutSlice, .row = 26, .column = 27});
  const std::size_t half = kPlaneAngles / 2, frame = kPlaneRows * kPlaneColumns;
  const std::span<const float> all(projections);
  sums.add(all.first(half * frame), std::span(theta).first(half), serial);
  sums.add(all.subspan(half * frame), std::span(theta).subspan(half), serial);
  const double share = std::numbers::pi / kPlaneAngles;

  const GridPlan plan =
      plan_exact({.columns = kPlaneColumns, .theta = theta, .centre = kPlaneAxis}, {});
  DirectEngine engine(plan);
  std::vector<float> slices(kSlicesPerGroup * kPlaneColumns * kPlaneColumns);
  constexpr std::size_t kFirstSlice = 8;  // slices 8 to 39
  engine.reconstruct({.data = projections.data() + kFirstSlice * kPlaneColumns,
                      .slices = kSlicesPerGroup,
                      .angle_stride = frame,
                      .slice_stride = kPlaneColumns},
                     {.data = slices.data(),
                      .slice_stride = kPlaneColumns * kPlaneColumns,
                      .row_stride = kPlaneColumns},
                     serial);
  const auto voxel = [&](std::size_t s, std::size_t r, std::size_t c) {
    return slices[((s - kFirstSlice) * kPlaneColumns + r) * kPlaneColumns + c];
  };
  const auto slice = sums.slice(share), row = sums.row(share), column = sums.column(share);
  // linear interpolation is smoother at edges
  double apart = 0, size = 0;
  const auto compare = [&](float got, float want) {
    apart += std::pow(static_cast<double>(got - want), 2);
    size += std::pow(static_cast<double>(want), 2);
  };
  for (std::size_t i = 4; i < kPlaneColumns - 4; ++i) {
    for (std::size_t k = 4; k < kPlaneColumns - 4; ++k) {
      if (std::hypot(static_cast<double>(i) - 23.5, static_cast<double>(k) - 23.5) > 20) continue;
      compare(slice[i * kPlaneColumns + k], voxel(kCutSlice, i, k));
    }
    for (std::size_t s = kFirstSlice; s < kPlaneRows; ++s) {
      compare(row[s * kPlaneColumns + i], voxel(s, 26, i));
      compare(column[s * kPlaneColumns + i], voxel(s, i, 27));
    }
  }
  EXPECT_LT(std::sqrt(apart / size), 0.08);
  EXPECT_NEAR(slice[26 * kPlaneColumns + 27], 0.02, 0.001);
  EXPECT_NEAR(row[kCutSlice * kPlaneColumns + 27], column[kCutSlice * kPlaneColumns + 26],
              1e-6);  // where all meet
  EXPECT_NEAR(row[kCutSlice * kPlaneColumns + 27], slice[26 * kPlaneColumns + 27], 1e-6);
}

}  // namespace
}  // namespace tomoloom
