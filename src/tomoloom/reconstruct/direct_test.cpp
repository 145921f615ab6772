// SPDX-License-Identifier: BSD-3-Clause
// Every engine against the plain sums, and `exact` against the truth.
#include "tomoloom/reconstruct/direct.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/reconstruct/reference.hpp"
#include "tomoloom/simulate/phantom.hpp"

namespace tomoloom {
namespace {

Geometry half_turn(std::size_t columns, std::size_t angles, double centre) {
  Geometry geometry{.columns = columns, .theta = {}, .centre = centre};
  for (std::size_t a = 0; a < angles; ++a) {
    geometry.theta.push_back(static_cast<double>(a) * std::numbers::pi /
                             static_cast<double>(angles));
  }
  return geometry;
}

/// [slice][angle][column]
std::vector<float> random_sinograms(const Geometry& geometry, std::size_t slices) {
  const CounterRng rng(3, 1);
  std::vector<float> out(slices * geometry.theta.size() * geometry.columns);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(rng.normal(i));
  return out;
}

std::vector<float> phantom_sinogram(const Phantom& body, const Geometry& geometry) {
  const Sight sight{.columns = geometry.columns, .rows = 1, .centre = geometry.centre};
  std::vector<float> out;
  std::vector<double> line(geometry.columns);
  for (const double theta : geometry.theta) {
    project_row(body, sight, 0, theta, line);
    out.insert(out.end(), line.begin(), line.end());
  }
  return out;
}

std::vector<float> run(const GridPlan& plan, const std::vector<float>& sinograms,
                       std::size_t slices, Executor& executor, Isa isa = active_isa()) {
  DirectEngine engine(plan, isa);
  const std::size_t sinogram = plan.angles * plan.columns, slice = plan.image * plan.image;
  std::vector<float> out(slices * slice, NAN);
  engine.reconstruct({.data = sinograms.data(),
                      .slices = slices,
                      .angle_stride = plan.columns,
                      .slice_stride = sinogram},
                     {.data = out.data(), .slice_stride = slice, .row_stride = plan.image},
                     executor);
  return out;
}

std::vector<float> run(const GridPlan& plan, const std::vector<float>& sinogram) {
  SerialExecutor serial;
  return run(plan, sinogram, 1, serial);
}

template <class A, class B>
double relative_difference(const A& got, const B& want) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double d = static_cast<double>(got[i]) - static_cast<double>(want[i]);
    difference += d * d;
    norm += static_cast<double>(want[i]) * static_cast<double>(want[i]);
  }
  return std::sqrt(difference / norm);
}

std::vector<float> sinogram_of(const std::vector<float>& sinograms, const GridPlan& plan,
                               std::size_t slice) {
  const auto size = static_cast<std::ptrdiff_t>(plan.angles * plan.columns);
  const auto at = sinograms.begin() + static_cast<std::ptrdiff_t>(slice) * size;
  return {at, at + size};
}

TEST(Direct, EveryLevelAndEverySliceIsThePlainSumOfThePlan) {
  for (const std::size_t columns : {20U, 23U}) {
    const Geometry geometry = half_turn(columns, 9, 10.3);
    const FilterChoice filter{};
    for (const GridPlan& plan : {plan_gridrec(geometry, filter), plan_exact(geometry, filter),
                                 plan_exact(geometry, filter, {.width = 8, .oversampling = 2})}) {
      constexpr std::size_t kSlices = 19;
      const auto sinograms = random_sinograms(geometry, kSlices);
      for (const Isa isa : available_isas()) {
        SerialExecutor serial;
        const auto slices = run(plan, sinograms, kSlices, serial, isa);
        for (const std::size_t s : {0U, 7U, 16U, 18U}) {
          const auto want = grid_plainly(plan, sinogram_of(sinograms, plan, s));
          const std::span<const float> got{slices.data() + s * want.size(), want.size()};
          EXPECT_LT(relative_difference(got, want), 2e-6)
              << columns << " slice " << s << " " << isa_name(isa);
        }
      }
    }
  }
}

TEST(Direct, ExactIsTheBackProjectionThatItApproximates) {
  const Geometry geometry = half_turn(48, 61, 22.75);
  const auto sinogram = phantom_sinogram(phantom("shepp-logan"), geometry);
  for (const Filter filter : {Filter::kRamlak, Filter::kShepp, Filter::kHann}) {
    const auto want = back_project_exactly(geometry, {.filter = filter}, sinogram);
    const auto difference = [&](const ExactChoice& choice) {
      return relative_difference(run(plan_exact(geometry, {.filter = filter}, choice), sinogram),
                                 want);
    };
    EXPECT_LT(difference({}), 5e-4);
    EXPECT_LT(difference({.width = 8, .oversampling = 2}), 3e-6);
  }
}

/// A set of weights for each angle is that angle's line multiplied by as much.
TEST(Direct, WeightsOfAnAngleAreThoseOfItsLine) {
  const Geometry geometry = half_turn(20, 9, 10.3);
  const auto sinogram = phantom_sinogram(phantom("discs"), geometry);
  const auto times = [](std::size_t a) { return static_cast<double>(1 << (a % 3)); };
  auto scaled = sinogram;
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    scaled[i] *= static_cast<float>(times(i / geometry.columns));
  }
  for (const bool exact : {true, false}) {
    FilterChoice one{.filter = Filter::kCustom}, each{.filter = Filter::kCustom2d};
    const std::size_t radii = (exact ? padded_line(geometry.columns) : 32) / 2;
    for (std::size_t j = 0; j < radii; ++j)
      one.weights.push_back(std::sin(1.0 + 0.2 * static_cast<double>(j)));
    for (std::size_t a = 0; a < geometry.theta.size(); ++a) {
      for (const double w : one.weights) each.weights.push_back(w * times(a));
    }
    const auto plan = [&](const FilterChoice& filter) {
      return exact ? plan_exact(geometry, filter) : plan_gridrec(geometry, filter);
    };
    EXPECT_EQ(run(plan(each), sinogram), run(plan(one), scaled));
    EXPECT_NE(run(plan(one), sinogram), run(plan(one), scaled));
  }
}

TEST(Direct, UnevenAnglesAndOddWidthsAreWhatTheSumsSay) {
  Geometry geometry = half_turn(33, 40, 17.2);
  for (std::size_t a = 0; a < geometry.theta.size(); ++a) {
    geometry.theta[a] = 0.1 + geometry.theta[a] * geometry.theta[a] / std::numbers::pi;
  }
  const auto sinogram = phantom_sinogram(phantom("discs"), geometry);
  const auto want = back_project_exactly(geometry, {}, sinogram);
  EXPECT_LT(relative_difference(run(plan_exact(geometry, {}), sinogram), want), 5e-4);
}

/// Mean of the slice within `radius` of a place, columns to the right, v up.
double mean_within(const std::vector<float>& slice, std::size_t n, double u, double v,
                   double radius) {
  double sum = 0, count = 0;
  const double middle = (static_cast<double>(n) - 1) / 2;
  for (std::size_t i = 0; i < slice.size(); ++i) {
    const double du = static_cast<double>(i % n) - middle - u;
    const double dv = middle - static_cast<double>(i / n) - v;
    if (du * du + dv * dv > radius * radius) continue;
    sum += static_cast<double>(slice[i]);
    ++count;
  }
  return sum / count;
}

TEST(Direct, ExactGivesTheValueOfADiscWhereverItLies) {
  constexpr std::size_t kColumns = 256;
  const Geometry geometry = half_turn(kColumns, 402, 127.5);
  for (const double away : {0.0, 30.0, 60.0, 90.0, 108.0}) {
    const double half = kColumns / 2.0, u = away * std::cos(0.8), v = away * std::sin(0.8);
    const Phantom disc{{1, u / half, v / half, 0, 15 / half, 15 / half, 1e6, 0}};
    const auto slice =
        run(plan_exact(geometry, {.filter = Filter::kRamlak}), phantom_sinogram(disc, geometry));
    EXPECT_NEAR(mean_within(slice, kColumns, u, v, 11), 1, 0.001) << away;
    EXPECT_NEAR(mean_within(slice, kColumns, -u + 40, -v, 11), 0, 0.002) << away;
  }
}

TEST(Direct, ExactHasNoCupping) {
  constexpr std::size_t kColumns = 256;
  const Geometry geometry = half_turn(kColumns, 402, 127.5);
  const auto sinogram = phantom_sinogram(phantom("disc"), geometry);
  const auto slice = run(plan_exact(geometry, {.filter = Filter::kRamlak}), sinogram);
  const double middle = mean_within(slice, kColumns, 0, 0, 20);
  EXPECT_NEAR(middle, 1, 0.001);
  for (const double angle : {0.0, 0.6, 1.9, 4.0}) {
    const double rim = mean_within(slice, kColumns, 72 * std::cos(angle), 72 * std::sin(angle), 9);
    EXPECT_NEAR(rim, middle, 0.001) << angle;
  }
}

TEST(Direct, TheAxisMayBeAnywhere) {
  constexpr std::size_t kColumns = 128;
  const auto with_axis = [&](double centre) {
    const Geometry geometry = half_turn(kColumns, 200, centre);
    const Phantom body{{1, .1, -.2, 0, .3, .2, 1e6, 25}};
    return run(plan_exact(geometry, {.filter = Filter::kHann, .cutoff = 1}),
               phantom_sinogram(body, geometry));
  };
  const auto want = with_axis(63.5);
  for (const double centre : {60.0, 66.25, 70.9}) {
    EXPECT_LT(relative_difference(with_axis(centre), want), 0.01) << centre;
  }
}

TEST(Direct, AnyNumberOfThreadsGivesTheSameBytes) {
  const Geometry geometry = half_turn(64, 50, 31);
  const auto sinograms = random_sinograms(geometry, kSlicesPerGroup);
  const auto threads = make_executor(3);
  SerialExecutor serial;
  for (const GridPlan& plan : {plan_exact(geometry, {}), plan_gridrec(geometry, {})}) {
    EXPECT_EQ(run(plan, sinograms, kSlicesPerGroup, serial),
              run(plan, sinograms, kSlicesPerGroup, *threads));
  }
}

}  // namespace
}  // namespace tomoloom
