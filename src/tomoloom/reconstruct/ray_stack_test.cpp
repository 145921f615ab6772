// SPDX-License-Identifier: BSD-3-Clause
// Methods that iterate, of scans whose axis is tilted along the beam.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <span>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/reconstruct/test_rays.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kStackWide = 32, kStackRows = 40;

std::vector<float> stack_slices(const std::vector<float>& projections, const Geometry& geometry,
                                const RayChoice& choice, std::size_t first, std::size_t count,
                                Executor& executor) {
  return slices_of_rows(RayEngine<float>(geometry, choice), projections, kStackWide, kStackRows,
                        first, count, executor);
}

/// Root of the mean square over the slices.
double stack_error(const std::vector<float>& all, const Phantom& body, const Geometry& geometry,
                   std::size_t first, std::size_t count) {
  const Sight sight{
      .columns = kStackWide, .rows = kStackRows, .centre = geometry.centre, .tilt = geometry.tilt};
  return std::sqrt(squares_off(all, body, sight, first) / static_cast<double>(count));
}

struct StackCase {
  const char* name;
  RayChoice choice;
};

std::vector<StackCase> stack_methods() {
  using M = RayMethod;
  return {{"sirt", {.method = M::kSirt, .iterations = 30, .filter = {}}},
          {"cgls", {.method = M::kCgls, .iterations = 16, .filter = {}}},
          {"tv", {.method = M::kTv, .iterations = 30, .filter = {}, .weight = 0.1}},
          {"bart", {.method = M::kBart, .iterations = 5, .filter = {}, .blocks = 5}},
          {"grad", {.method = M::kGrad, .iterations = 40, .filter = {}}}};
}

TEST(RayStack, GivesTheTruthOfATiltedScan) {
  SerialExecutor serial;
  const Phantom body = cylinder_with_balls();
  const std::size_t first = 17, count = 5;
  const Geometry straight = whole_turn(kStackWide, 40, 0), tilted = whole_turn(kStackWide, 40, -8);
  const std::vector<float> upright = rows_seen(body, straight, kStackRows);
  const std::vector<float> projections = rows_seen(body, tilted, kStackRows);
  for (const StackCase& each : stack_methods()) {
    const auto of = [&](const std::vector<float>& rows, const Geometry& geometry) {
      return stack_slices(rows, geometry, each.choice, first, count, serial);
    };
    const double plain = stack_error(of(upright, straight), body, straight, first, count);
    const double told = stack_error(of(projections, tilted), body, tilted, first, count);
    const double untold = stack_error(of(projections, straight), body, tilted, first, count);
    EXPECT_LT(told, 1.1 * plain) << each.name;
    EXPECT_LT(told * told - plain * plain, 0.2 * (untold * untold - plain * plain)) << each.name;
  }
}

/// Beyond its last row the detector is taken to see what that one does: right of a body that does
/// not change along the axis there.
TEST(RayStack, DoesWithoutRowsBeyondTheDetector) {
  SerialExecutor serial;
  const Phantom body = cylinder_with_balls();
  const Geometry tilted = whole_turn(kStackWide, 40, -8);
  const std::vector<float> projections = rows_seen(body, tilted, kStackRows);
  const std::vector<StackCase> all = stack_methods();
  for (const StackCase& each : std::span(all).first(3)) {
    const auto error_of = [&](std::size_t first) {
      return stack_error(stack_slices(projections, tilted, each.choice, first, 3, serial), body,
                         tilted, first, 3);
    };
    EXPECT_LT(error_of(0), 1.2 * error_of(16)) << each.name;
  }
}

TEST(RayStack, DoesNotDependOnThreads) {
  SerialExecutor serial;
  const Geometry tilted = whole_turn(kStackWide, 13, 5);
  const std::vector<float> projections = rows_seen(phantom("shepp-logan"), tilted, kStackRows);
  for (StackCase each : stack_methods()) {
    each.choice.iterations = 3;
    EXPECT_EQ(stack_slices(projections, tilted, each.choice, 7, 32, *make_executor(3)),
              stack_slices(projections, tilted, each.choice, 7, 32, serial))
        << each.name;
  }
}

/// Sums over all slices decide the steps: with those of each slice alone it ends elsewhere.
TEST(RayStack, ConjugateGradientsEndAtTheDenseSolutionOfAllSlices) {
  constexpr std::size_t kWide = 3, kLanes = kRaySlices<double>;
  const Geometry tilted = whole_turn(kWide, 17, 15);
  const RayPair<double> pair(tilted);
  const std::size_t rays = pair.sinogram_size(), pixels = pair.slice_size();
  SerialExecutor serial;
  ASSERT_GT(pair.stack().groups, 1U);
  std::vector<std::vector<double>> a(pixels, std::vector<double>(rays));
  std::vector<double> slice(pixels);
  for (std::size_t j = 0; j < pixels; ++j) {
    std::fill(slice.begin(), slice.end(), 0);
    slice[j] = 1;
    pair.project(slice.data(), a[j].data(), serial);
  }
  const CounterRng rng(4, 6);
  std::vector<double> b(rays), right(pixels, 0);
  for (std::size_t i = 0; i < rays; ++i) b[i] = rng.normal(i);
  const double ridge = 0.5;
  std::vector<std::vector<double>> normal(pixels, std::vector<double>(pixels, 0));
  for (std::size_t j = 0; j < pixels; ++j) {
    right[j] = std::inner_product(a[j].begin(), a[j].end(), b.begin(), 0.0);
    for (std::size_t k = 0; k <= j; ++k) {
      normal[j][k] = normal[k][j] = std::inner_product(a[j].begin(), a[j].end(), a[k].begin(), 0.0);
    }
    normal[j][j] += ridge;
  }
  const std::vector<double> want = dense_solution(normal, right);
  RayEngine<double> engine(
      tilted, {.method = RayMethod::kTikh, .iterations = 120, .filter = {}, .weight = ridge});
  engine.solve(b.data(), slice.data(), serial);
  double size = 0;
  for (const double each : want) size += each * each;
  for (std::size_t j = 0; j < pixels; ++j) {
    ASSERT_NEAR(slice[j], want[j], 1e-8 * std::sqrt(size)) << j / kLanes;
  }
}

}  // namespace
}  // namespace tomoloom
