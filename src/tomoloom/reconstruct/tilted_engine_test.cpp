// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/tilted_engine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/runtime/executors.hpp"
#include "tomoloom/reconstruct/direct.hpp"
#include "tomoloom/reconstruct/test_rays.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kWide = 64, kRows = 40, kSlice = kWide * kWide;

Geometry turn(std::size_t angles, double tilt_deg) { return whole_turn(kWide, angles, tilt_deg); }

std::vector<float> seen(const Phantom& body, const Geometry& geometry) {
  return rows_seen(body, geometry, kRows);
}

/// Slices [first, first + count), told of `tilt` whatever that of the scan is.
std::vector<float> slices(const std::vector<float>& projections, Geometry geometry, double tilt,
                          std::size_t first, std::size_t count, Executor& executor) {
  geometry.tilt = tilt;
  return slices_of_rows(TiltedEngine(geometry, {}), projections, kWide, kRows, first, count,
                        executor);
}

TEST(TiltedEngine, GivesTheTruthOfATiltedScan) {
  SerialExecutor serial;
  const Phantom body = cylinder_with_balls();
  const Geometry straight = turn(150, 0);
  const std::size_t first = 14, count = 11;
  const auto error = [&](const std::vector<float>& all, double tilt) {
    const Sight sight{.columns = kWide, .rows = kRows, .centre = straight.centre, .tilt = tilt};
    return squares_off(all, body, sight, first);
  };
  const double plain = error(slices(seen(body, straight), straight, 0, first, count, serial), 0);
  for (const double tilt : {4.0, -8.0}) {
    const Geometry geometry = turn(150, tilt);
    const std::vector<float> projections = seen(body, geometry);
    const double told =
        error(slices(projections, geometry, geometry.tilt, first, count, serial), geometry.tilt);
    const double untold =
        error(slices(projections, geometry, 0, first, count, serial), geometry.tilt);
    EXPECT_LT(told - plain, 0.2 * (untold - plain)) << tilt;
    EXPECT_LT(told, 1.15 * plain) << tilt;
  }
}

TEST(TiltedEngine, DoesNotDependOnThreadsOrOnTheBlock) {
  SerialExecutor serial;
  const Geometry geometry = turn(31, 4);
  const std::vector<float> projections = seen(phantom("shepp-logan"), geometry);
  const auto all = slices(projections, geometry, geometry.tilt, 4, 30, serial);
  EXPECT_EQ(slices(projections, geometry, geometry.tilt, 4, 30, *make_executor(3)), all);
  const auto some = slices(projections, geometry, geometry.tilt, 20, 5, serial);
  for (std::size_t i = 0; i < some.size(); ++i) ASSERT_NEAR(some[i], all[16 * kSlice + i], 1e-5);
}

TEST(TiltedEngine, GivesWhatExactDoesOfAnUprightAxis) {
  SerialExecutor serial;
  const Geometry geometry = turn(150, 0);
  const std::vector<float> projections = seen(cylinder_with_balls(), geometry);
  const auto tilted = slices(projections, geometry, 1e-9, 4, 8, serial);
  const GridPlan plan = plan_exact(geometry, {});
  DirectEngine engine(plan);
  std::vector<float> upright(tilted.size());
  engine.reconstruct({.data = projections.data() + 4 * kWide,
                      .slices = 8,
                      .angle_stride = kRows * kWide,
                      .slice_stride = kWide},
                     {.data = upright.data(), .slice_stride = kSlice, .row_stride = kWide}, serial);
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < tilted.size(); ++i) {
    const double u = static_cast<double>(i % kWide) - 31.5;
    const double v = static_cast<double>(i % kSlice / kWide) - 31.5;
    if (u * u + v * v > 900) continue;
    apart += std::pow(static_cast<double>(tilted[i] - upright[i]), 2);
    size += std::pow(static_cast<double>(upright[i]), 2);
  }
  EXPECT_LT(std::sqrt(apart / size), 0.006);  // linear between points half a pixel apart: 0.02
}

}  // namespace
}  // namespace tomoloom
