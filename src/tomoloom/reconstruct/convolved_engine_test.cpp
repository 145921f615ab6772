// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/convolved_engine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/reconstruct/test_rays.hpp"

namespace tomoloom {
namespace {

constexpr RayMethod kConvolved[] = {RayMethod::kSirt, RayMethod::kCgls, RayMethod::kTikh,
                                    RayMethod::kGrad, RayMethod::kTv};

std::vector<float> convolved(const Phantom& body, const Geometry& geometry, const RayChoice& choice,
                             Executor& executor, std::size_t place = 0) {
  struct Planned {
    Planned(const Geometry& of, const RayChoice& how)
        : plan(plan_seen(of)), engine(plan, of, how) {}
    void reconstruct(const StackView& projections, const VolumeView& slices, Executor& on) {
      engine.reconstruct(projections, slices, on);
    }
    GridPlan plan;
    ConvolvedEngine engine;
  };
  return slice_by<Planned>(body, geometry, choice, executor, place);
}

/// B column by column: [pixel][2 frequency and 1 + 2 frequency of each angle], so that the sum over
/// numbers of a line is that over its frequencies of either sign, divided by the line's length.
std::vector<std::vector<double>> dense_projection(const Geometry& geometry) {
  const std::size_t n = geometry.columns, padded = padded_line(n);
  const auto p = static_cast<double>(padded);
  const double middle = (static_cast<double>(n) - 1) / 2;
  std::vector<std::vector<double>> columns(n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    const double u = static_cast<double>(i % n) - middle, v = middle - static_cast<double>(i / n);
    for (const double theta : geometry.theta) {
      const double at = geometry.centre + u * std::cos(theta) + v * std::sin(theta);
      for (std::size_t j = 0; j < padded / 2; ++j) {
        const double x = static_cast<double>(j) / p;
        const double size = shadow_response(x, theta) * std::sqrt((j == 0 ? 1 : 2) / p);
        columns[i].push_back(size * std::cos(2 * std::numbers::pi * x * at));
        columns[i].push_back(size * std::sin(2 * std::numbers::pi * x * at));
      }
    }
  }
  return columns;
}

/// The same numbers of sinograms.
std::vector<double> frequencies(const Geometry& geometry, const std::vector<double>& sinogram) {
  const std::size_t n = geometry.columns, padded = padded_line(n);
  const auto p = static_cast<double>(padded);
  std::vector<double> out;
  for (std::size_t a = 0; a < geometry.theta.size(); ++a) {
    for (std::size_t j = 0; j < padded / 2; ++j) {
      double re = 0, im = 0;
      for (std::size_t x = 0; x < n; ++x) {
        const double turn = 2 * std::numbers::pi * static_cast<double>(j * x) / p;
        re += sinogram[a * n + x] * std::cos(turn);
        im += sinogram[a * n + x] * std::sin(turn);
      }
      out.push_back(re * std::sqrt((j == 0 ? 1 : 2) / p));
      out.push_back(im * std::sqrt((j == 0 ? 1 : 2) / p));
    }
  }
  return out;
}

double product(const std::vector<double>& a, const std::vector<double>& b,
               const std::vector<double>& weight) {
  const std::size_t each = a.size() / weight.size();
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += weight[i / each] * a[i] * b[i];
  return sum;
}

TEST(ConvolvedEngine, EndsAtTheDenseLeastSquaresSolution) {
  constexpr std::size_t kWide = 4, kPixels = kWide * kWide, kSlices = kRaySlices<double>;
  Geometry geometry = evenly(kWide, 30);
  for (std::size_t a = 0; a < 30; ++a) geometry.weight.push_back(a % 4 == 0 ? 0.3 : 1);
  const std::vector<std::vector<double>> columns = dense_projection(geometry);
  const CounterRng rng(4, 6);
  std::vector<double> sinogram(30 * kWide);  // nothing that a slice can give
  for (std::size_t i = 0; i < sinogram.size(); ++i) sinogram[i] = rng.normal(i);
  const std::vector<double> b = frequencies(geometry, sinogram);
  std::vector<std::vector<double>> normal(kPixels, std::vector<double>(kPixels, 0));
  std::vector<double> right(kPixels), seen(kPixels * kSlices), slice(seen.size());
  for (std::size_t p = 0; p < kPixels; ++p) {
    right[p] = product(columns[p], b, geometry.weight);
    for (std::size_t q = 0; q < kPixels; ++q) {
      normal[p][q] = product(columns[p], columns[q], geometry.weight);
    }
  }
  SerialExecutor serial;
  const auto expect_same = [&](RayMethod method, std::size_t iterations, double weight,
                               double ridge) {
    auto damped = normal;
    for (std::size_t p = 0; p < kPixels; ++p) damped[p][p] += ridge;
    const std::vector<double> want = dense_solution(damped, right);
    ConvolvedSolver<double> solver(
        geometry, {.method = method, .iterations = iterations, .filter = {}, .weight = weight});
    for (std::size_t i = 0; i < seen.size(); ++i) {
      seen[i] = right[i / kSlices] * static_cast<double>(i % kSlices + 1);
    }
    solver.solve(seen.data(), slice.data(), serial);
    double size = 0;
    for (const double each : want) size += each * each;
    for (std::size_t j = 0; j < kPixels; ++j) {
      for (const std::size_t l : {0U, 5U}) {
        EXPECT_NEAR(slice[j * kSlices + l] / static_cast<double>(l + 1), want[j],
                    1e-6 * std::sqrt(size))
            << static_cast<int>(method);
      }
    }
  };
  expect_same(RayMethod::kCgls, 200, 0, 0);
  expect_same(RayMethod::kTikh, 200, 0.7, 0.7);
  expect_same(RayMethod::kGrad, 1000, 0, 0);
  expect_same(RayMethod::kSirt, 20000, 0, 0);
  expect_same(RayMethod::kTv, 20000, 0, 0);
}

TEST(ConvolvedEngine, WhatIsSeenIsTheTransposeOfTheProjection) {
  const Geometry geometry = evenly(17, 9);
  const std::vector<std::vector<double>> columns = dense_projection(geometry);
  const CounterRng rng(4, 7);
  std::vector<float> sinogram(9 * 17), out(17 * 17);
  for (std::size_t i = 0; i < sinogram.size(); ++i) sinogram[i] = static_cast<float>(rng.normal(i));
  const std::vector<double> b = frequencies(geometry, {sinogram.begin(), sinogram.end()});
  SerialExecutor serial;
  const GridPlan plan = plan_seen(geometry);
  DirectEngine(plan).reconstruct({.data = sinogram.data(), .slices = 1, .angle_stride = 17},
                                 {.data = out.data(), .row_stride = 17}, serial);
  double apart = 0, size = 0;
  for (std::size_t p = 0; p < out.size(); ++p) {
    const double want = product(columns[p], b, std::vector<double>(9, 1));
    apart += std::pow(static_cast<double>(out[p]) - want, 2);
    size += want * want;
  }
  EXPECT_LT(std::sqrt(apart / size), 3e-6);
}

TEST(ConvolvedEngine, GivesTheTruthAsRaysDo) {
  const Geometry geometry = evenly(64, 34);
  const Phantom body = phantom("disc");
  const std::vector<float> truth = truth_of(body, geometry);
  SerialExecutor serial;
  const double rays =
      root_mean_square(slice_by<RayEngine<float>>(
                           body, geometry, {.method = RayMethod::kCgls, .iterations = 30}, serial),
                       truth, 64);
  for (const RayMethod method : kConvolved) {
    const bool slow = method == RayMethod::kSirt || method == RayMethod::kTv;
    const double error =
        root_mean_square(convolved(body, geometry,
                                   {.method = method,
                                    .iterations = slow ? 100U : 30U,
                                    .filter = {},
                                    .weight = method == RayMethod::kGrad ? 0 : 0.1},
                                   serial),
                         truth, 64);
    EXPECT_LT(error, 1.1 * rays) << static_cast<int>(method);
  }
}

TEST(ConvolvedEngine, TotalVariationMakesMoreOfFewAngles) {
  const Geometry geometry = evenly(64, 10);
  const Phantom body = phantom("disc");
  const std::vector<float> truth = truth_of(body, geometry);
  SerialExecutor serial;
  const auto error = [&](const RayChoice& choice) {
    return root_mean_square(convolved(body, geometry, choice, serial), truth, 64);
  };
  EXPECT_LT(error({.method = RayMethod::kTv, .iterations = 100, .filter = {}, .weight = 0.3}),
            0.5 * error({.method = RayMethod::kCgls, .iterations = 20}));
}

TEST(ConvolvedEngine, DoesNotDependOnThreadsOrOnThePlaceInTheGroup) {
  const Geometry geometry = evenly(40, 33);
  SerialExecutor serial;
  const auto threads = make_executor(3);
  for (const RayMethod method : kConvolved) {
    const RayChoice choice{
        .method = method, .iterations = 5, .filter = {}, .blocks = 1, .weight = 0.1};
    const auto one = convolved(phantom("shepp-logan"), geometry, choice, serial);
    EXPECT_EQ(convolved(phantom("shepp-logan"), geometry, choice, *threads), one);
    const auto other = convolved(phantom("shepp-logan"), geometry, choice, serial, 21);
    for (std::size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(other[i], one[i], 1e-5F);
  }
}

}  // namespace
}  // namespace tomoloom
