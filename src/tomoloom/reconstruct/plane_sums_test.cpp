// SPDX-License-Identifier: BSD-3-Clause
// Planes without the volume against the slices that the exact plan makes.
#include "tomoloom/reconstruct/plane_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/direct.hpp"
#include "tomoloom/reconstruct/test_rays.hpp"
#include "tomoloom/reconstruct/tilted_engine.hpp"
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

TEST(PlaneSums, WithATiltedAxisArePlanesOfTheTiltedVolume) {
  constexpr std::size_t kDeep = 70, kLong = 40, kFirst = 20, kTurn = 120;
  SerialExecutor serial;
  const Sight sight{.columns = kLong, .rows = kDeep, .centre = 20.4, .scale = 0.02, .tilt = 0.12};
  // away from the axis, where a tilt tells most, each in two of the planes
  const Phantom body{{1, 0.6, -0.225, 0.1, 0.15, 0.15, 0.15, 0},
                     {1, 0.125, 0.6, 0.1, 0.15, 0.15, 0.15, 0}};
  Geometry geometry{.columns = kLong, .theta = {}, .centre = sight.centre, .tilt = sight.tilt};
  std::vector<float> projections;
  std::vector<double> line(kLong);
  for (std::size_t a = 0; a < kTurn; ++a) {
    geometry.theta.push_back(2 * std::numbers::pi / kTurn * static_cast<double>(a));
    for (std::size_t r = 0; r < kDeep; ++r) {
      project_row(body, sight, r, geometry.theta[a], line);
      projections.insert(projections.end(), line.begin(), line.end());
    }
  }
  const std::vector<float> slices = slices_of_rows(TiltedEngine(geometry, {}), projections, kLong,
                                                   kDeep, kFirst, kSlicesPerGroup, serial);
  const auto apart_with = [&](double tilt) {
    PlaneSums sums(kDeep, kLong, sight.centre, {.slice = 37, .row = 24, .column = 22}, tilt);
    const std::span<const float> all(projections);
    const std::size_t some = 50 * kDeep * kLong;
    sums.add(all.first(some), std::span(geometry.theta).first(50), serial);
    sums.add(all.subspan(some), std::span(geometry.theta).subspan(50), serial);
    const double share = std::numbers::pi / kTurn;
    const auto slice = sums.slice(share), row = sums.row(share), column = sums.column(share);
    double apart = 0, size = 0;
    const auto compare = [&](float got, std::size_t s, std::size_t r, std::size_t c) {
      const auto want = static_cast<double>(slices[((s - kFirst) * kLong + r) * kLong + c]);
      apart += std::pow(static_cast<double>(got) - want, 2);
      size += want * want;
    };
    for (std::size_t i = 5; i < kLong - 5; ++i) {
      for (std::size_t k = 8; k < kLong - 8; ++k) compare(slice[k * kLong + i], 37, k, i);
      for (std::size_t s = kFirst; s < kFirst + kSlicesPerGroup; ++s) {
        compare(row[s * kLong + i], s, 24, i);
        compare(column[s * kLong + i], s, i, 22);
      }
    }
    return std::sqrt(apart / size);
  };
  EXPECT_LT(apart_with(sight.tilt), 0.1);
  EXPECT_GT(apart_with(0), 0.2);
}

}  // namespace
}  // namespace tomoloom
