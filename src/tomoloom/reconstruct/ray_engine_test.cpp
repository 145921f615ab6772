// SPDX-License-Identifier: BSD-3-Clause
// Methods on the pair against the truth, against plain sums, and against the dense solution.
#include "tomoloom/reconstruct/ray_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/reconstruct/test_rays.hpp"

namespace tomoloom {
namespace {

std::vector<float> slice_of(const Phantom& body, const Geometry& geometry, const RayChoice& choice,
                            Executor& executor, std::size_t place = 0) {
  return slice_by<RayEngine<float>>(body, geometry, choice, executor, place);
}

TEST(RayEngine, GivesTheTruthByEachMethod) {
  const Geometry geometry = evenly(64, 34);
  const Phantom body = phantom("disc");
  const std::vector<float> truth = truth_of(body, geometry);
  SerialExecutor serial;
  const auto error = [&](RayMethod method, std::size_t iterations) {
    return root_mean_square(
        slice_of(
            body, geometry,
            {.method = method, .iterations = iterations, .filter = {}, .blocks = 10, .weight = 0.3},
            serial),
        truth, 64);
  };
  EXPECT_LT(error(RayMethod::kFbp, 0), 0.05);
  EXPECT_LT(error(RayMethod::kSirt, 100), 0.05);
  EXPECT_LT(error(RayMethod::kCgls, 30), 0.05);
  EXPECT_LT(error(RayMethod::kMlem, 100), 0.08);
  EXPECT_LT(error(RayMethod::kOsem, 10), 0.08);  // as far as ten times as many of kMlem
  EXPECT_LT(error(RayMethod::kTv, 100), 0.05);
  EXPECT_LT(error(RayMethod::kTikh, 30), 0.05);
  EXPECT_LT(error(RayMethod::kArt, 10), 0.1);
  EXPECT_LT(error(RayMethod::kBart, 8), 0.05);  // as far as ten times as many of kSirt
  const auto descended = slice_of(
      body, geometry, {.method = RayMethod::kGrad, .iterations = 40, .filter = {}}, serial);
  EXPECT_LT(root_mean_square(descended, truth, 64), 0.05);
}

TEST(RayEngine, APenaltyMakesNoiseLessAndEdgesAreLeftWhereTheyCostLess) {
  const Geometry geometry = evenly(64, 40);
  const Phantom body = phantom("disc");
  const Sight sight{.columns = 64, .rows = 1, .centre = geometry.centre};
  const std::vector<float> truth = true_slice(body, sight, 0);
  std::vector<float> sinogram(geometry.theta.size() * 64);
  std::vector<double> line(64);
  for (std::size_t a = 0; a < geometry.theta.size(); ++a) {
    project_row(body, sight, 0, geometry.theta[a], line);
    for (std::size_t x = 0; x < 64; ++x) {
      sinogram[a * 64 + x] =
          static_cast<float>(std::max(0.0, line[x] + 1.5 * CounterRng(3, a).normal(x)));
    }
  }
  SerialExecutor serial;
  const auto error = [&](const RayChoice& choice) {
    RayEngine<float> engine(geometry, choice);
    std::vector<float> out(64 * 64);
    engine.reconstruct({.data = sinogram.data(), .slices = 1, .angle_stride = 64},
                       {.data = out.data(), .row_stride = 64}, serial);
    return root_mean_square(out, truth, 64);
  };
  const auto of = [&](RayMethod method, std::size_t iterations, double weight, double edge = 1) {
    return error({.method = method,
                  .iterations = iterations,
                  .filter = {},
                  .blocks = 8,
                  .weight = weight,
                  .edge = edge});
  };
  const double plain = of(RayMethod::kMlem, 80, 0);
  EXPECT_NEAR(of(RayMethod::kPmlQuad, 80, 0), plain, 1e-3 * plain);
  const double quadratic = of(RayMethod::kPmlQuad, 80, 10);
  EXPECT_LT(quadratic, 0.7 * plain);
  EXPECT_LT(of(RayMethod::kPmlHybrid, 80, 20, 0.1), 0.95 * quadratic);
  EXPECT_LT(of(RayMethod::kOspmlQuad, 10, 1), 0.7 * plain);
  EXPECT_LT(of(RayMethod::kOspmlHybrid, 10, 2, 0.1), 0.7 * plain);
}

TEST(RayEngine, BlocksAreOfTheAnglesThatAreNamed) {
  const Geometry geometry = evenly(32, 23);
  const Phantom body = phantom("disc");
  SerialExecutor serial;
  for (const RayMethod method :
       {RayMethod::kOsem, RayMethod::kBart, RayMethod::kOspmlQuad, RayMethod::kOspmlHybrid}) {
    RayChoice choice{.method = method, .iterations = 2, .filter = {}, .blocks = 5, .weight = 0.1};
    const std::vector<float> usual = slice_of(body, geometry, choice, serial);
    for (std::size_t block = 0; block < 5; ++block) {
      for (std::size_t a = block; a < 23; a += 5) choice.order.push_back(a);
    }
    EXPECT_EQ(slice_of(body, geometry, choice, serial), usual);
    // angles beside each other go together now
    for (std::size_t a = 0; a < 23; ++a) choice.order[a] = a;
    const std::vector<float> in_turn = slice_of(body, geometry, choice, serial);
    EXPECT_NE(in_turn, usual);
    // angles listed backwards, in blocks by number: the same blocks
    Geometry backwards = geometry;
    std::reverse(backwards.theta.begin(), backwards.theta.end());
    for (std::size_t a = 0; a < 23; ++a) choice.order[a] = 22 - a;
    EXPECT_EQ(slice_of(body, backwards, choice, serial), in_turn);
    choice.blocks = 1;
    RayChoice whole = choice;
    whole.order.clear();
    EXPECT_EQ(slice_of(body, geometry, choice, serial), slice_of(body, geometry, whole, serial));
  }
}

TEST(RayEngine, TotalVariationMakesMoreOfFewAngles) {
  const Geometry geometry = evenly(96, 12);
  const Phantom body = phantom("disc");
  const std::vector<float> truth = truth_of(body, geometry);
  SerialExecutor serial;
  const auto error = [&](const RayChoice& choice) {
    return root_mean_square(slice_of(body, geometry, choice, serial), truth, 96);
  };
  const double plain = error({.method = RayMethod::kCgls, .iterations = 20});
  EXPECT_LT(error({.method = RayMethod::kTv, .iterations = 300, .filter = {}, .weight = 0.3}),
            0.5 * plain);
}

TEST(RayEngine, LikelihoodGivesNothingNegativeAndNothingThatIsNoNumber) {
  const Geometry geometry = evenly(24, 20);
  std::vector<float> sinogram(20 * 24, 0);
  for (std::size_t i = 0; i < sinogram.size(); ++i) {
    sinogram[i] = i % 5 == 0 ? -1.0F : i % 7 == 0 ? 1e6F : 0.0F;
  }
  SerialExecutor serial;
  for (const auto& [method, blocks] : {std::pair{RayMethod::kOsem, 1U},
                                       {RayMethod::kOsem, 3U},
                                       {RayMethod::kOsem, 20U},
                                       {RayMethod::kOsem, 99U},
                                       {RayMethod::kOspmlQuad, 3U},
                                       {RayMethod::kOspmlHybrid, 20U}}) {
    RayEngine<float> engine(
        geometry, {.method = method, .iterations = 6, .filter = {}, .blocks = blocks, .weight = 3});
    std::vector<float> out(24 * 24, NAN);
    engine.reconstruct({.data = sinogram.data(), .slices = 1, .angle_stride = 24},
                       {.data = out.data(), .row_stride = 24}, serial);
    for (const float value : out) {
      ASSERT_TRUE(std::isfinite(value));
      ASSERT_GE(value, 0);
    }
  }
}

TEST(RayEngine, FilteredBackProjectionHasTheRightValueInsideADisc) {
  const Geometry geometry = evenly(96, 150);
  SerialExecutor serial;
  const auto slice = slice_of(phantom("disc"), geometry, {}, serial);
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < slice.size(); ++i) {
    if (std::hypot(static_cast<double>(i % 96) - 47.5, static_cast<double>(i / 96) - 47.5) > 28) {
      continue;
    }
    sum += static_cast<double>(slice[i]);
    ++count;
  }
  EXPECT_NEAR(sum / count, 1, 0.005);
}

TEST(RayEngine, DoesNotDependOnThreadsOrOnThePlaceInTheGroup) {
  const Geometry geometry = evenly(40, 33);
  SerialExecutor serial;
  const auto threads = make_executor(3);
  for (const RayMethod method :
       {RayMethod::kFbp, RayMethod::kSirt, RayMethod::kCgls, RayMethod::kMlem, RayMethod::kOsem,
        RayMethod::kTv, RayMethod::kTikh, RayMethod::kGrad, RayMethod::kPmlQuad,
        RayMethod::kPmlHybrid, RayMethod::kOspmlQuad, RayMethod::kOspmlHybrid, RayMethod::kBart,
        RayMethod::kArt}) {
    const RayChoice choice{
        .method = method, .iterations = 5, .filter = {}, .blocks = 4, .weight = 0.1};
    const auto one = slice_of(phantom("shepp-logan"), geometry, choice, serial);
    EXPECT_EQ(slice_of(phantom("shepp-logan"), geometry, choice, *threads), one);
    const auto other = slice_of(phantom("shepp-logan"), geometry, choice, serial, 21);
    for (std::size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(other[i], one[i], 1e-6F);
  }
}

TEST(RayEngine, IterationsEndAtTheDenseLeastSquaresSolution) {
  constexpr std::size_t kWide = 4, kPixels = kWide * kWide, kSlices = kRaySlices<double>;
  Geometry geometry = evenly(kWide, 30);
  const RayPair<double> pair(geometry);
  const std::size_t rays = pair.angles() * kWide;
  SerialExecutor serial;
  // A column by column, in one slice of the group
  std::vector<std::vector<double>> a(kPixels, std::vector<double>(rays));
  std::vector<double> slice(pair.slice_size()), sinogram(pair.sinogram_size());
  for (std::size_t j = 0; j < kPixels; ++j) {
    std::fill(slice.begin(), slice.end(), 0);
    slice[j * kSlices] = 1;
    pair.project(slice.data(), sinogram.data(), serial);
    for (std::size_t i = 0; i < rays; ++i) a[j][i] = sinogram[i * kSlices];
  }
  const CounterRng rng(4, 4);
  std::vector<double> b(rays);  // nothing that a slice can give: the residual is large
  for (std::size_t i = 0; i < rays; ++i) b[i] = rng.normal(i);
  const auto dense = [&](const std::vector<double>& ray_weight, double ridge = 0) {
    std::vector<std::vector<double>> normal(kPixels, std::vector<double>(kPixels, 0));
    std::vector<double> right(kPixels, 0);
    for (std::size_t j = 0; j < kPixels; ++j) {
      for (std::size_t i = 0; i < rays; ++i) {
        right[j] += a[j][i] * ray_weight[i] * b[i];
        for (std::size_t k = 0; k < kPixels; ++k) {
          normal[j][k] += a[j][i] * ray_weight[i] * a[k][i];
        }
      }
      normal[j][j] += ridge;
    }
    return dense_solution(normal, right);
  };
  const auto iterated = [&](RayMethod method, std::size_t iterations, double weight_of = 0) {
    RayEngine<double> engine(
        geometry, {.method = method, .iterations = iterations, .filter = {}, .weight = weight_of});
    for (std::size_t i = 0; i < rays; ++i) {
      for (std::size_t l = 0; l < kSlices; ++l) {
        sinogram[i * kSlices + l] = static_cast<double>(l + 1) * b[i];
      }
    }
    engine.solve(sinogram.data(), slice.data(), serial);
    return slice;
  };
  const auto expect_same = [&](const std::vector<double>& got, const std::vector<double>& want) {
    double size = 0;
    for (const double each : want) size += each * each;
    for (std::size_t j = 0; j < kPixels; ++j) {
      for (const std::size_t l : {0U, 5U}) {
        EXPECT_NEAR(got[j * kSlices + l] / static_cast<double>(l + 1), want[j],
                    1e-6 * std::sqrt(size));
      }
    }
  };
  expect_same(iterated(RayMethod::kCgls, 200), dense(std::vector<double>(rays, 1)));
  expect_same(iterated(RayMethod::kTv, 20000), dense(std::vector<double>(rays, 1)));  // weight 0
  expect_same(iterated(RayMethod::kTikh, 200, 0.7), dense(std::vector<double>(rays, 1), 0.7));
  expect_same(iterated(RayMethod::kGrad, 400), dense(std::vector<double>(rays, 1)));
  expect_same(iterated(RayMethod::kGrad, 15000, 0.4), dense(std::vector<double>(rays, 1)));
  // of SIRT each ray counts by one over its length within the slice
  std::vector<double> weight(rays, 0);
  for (std::size_t i = 0; i < rays; ++i) {
    for (std::size_t j = 0; j < kPixels; ++j) weight[i] += a[j][i];
    weight[i] = weight[i] > 1e-6 ? 1 / weight[i] : 0;
  }
  expect_same(iterated(RayMethod::kSirt, 40000), dense(weight));
}

/// Where a penalised likelihood has its maximum, s - A^T(b / A x) + 2 weight sum of w g (x - x_q)
/// is 0 in every pixel, w the neighbours' shares, g = 1 / (1 + |x - x_q| / edge) or 1.
TEST(RayEngine, PenalisedLikelihoodsEndWhereTheirSlopeIsZero) {
  constexpr int kWide = 8;
  constexpr std::size_t kSlices = kRaySlices<double>, kPixels = kWide * kWide;
  const Geometry geometry = evenly(kWide, 24);
  const RayPair<double> pair(geometry);
  SerialExecutor serial;
  std::vector<double> sinogram(pair.sinogram_size()), slice(pair.slice_size());
  const CounterRng rng(4, 5);
  for (std::size_t i = 0; i < slice.size(); ++i) slice[i] = 1 + rng.uniform(i);
  pair.project(slice.data(), sinogram.data(), serial);
  for (std::size_t i = 0; i < sinogram.size(); ++i) sinogram[i] *= 1 + 0.1 * rng.uniform(9999 + i);
  const auto counts = sinogram;
  for (const bool hybrid : {false, true}) {
    RayEngine<double> engine(geometry,
                             {.method = hybrid ? RayMethod::kPmlHybrid : RayMethod::kPmlQuad,
                              .iterations = 3000,
                              .filter = {},
                              .weight = 0.8,
                              .edge = 0.2});
    sinogram = counts;
    engine.solve(sinogram.data(), slice.data(), serial);
    std::vector<double> ratio(sinogram.size()), pulled(slice.size()), seen(slice.size());
    pair.project(slice.data(), ratio.data(), serial);
    for (std::size_t i = 0; i < ratio.size(); ++i) ratio[i] = 1 - counts[i] / ratio[i];
    pair.back_project(ratio.data(), pulled.data(), serial);
    const auto at = [&](int r, int c, std::size_t l) {
      return slice[static_cast<std::size_t>(r * kWide + c) * kSlices + l];
    };
    double worst = 0;
    for (std::size_t i = 0; i < kPixels; ++i) {
      const int r = static_cast<int>(i) / kWide, c = static_cast<int>(i) % kWide;
      const std::size_t l = 3;
      double sum = 0, all = 0;
      for (int dr = -1; dr <= 1; ++dr) {
        for (int dc = -1; dc <= 1; ++dc) {
          if ((dr == 0 && dc == 0) || r + dr < 0 || r + dr >= kWide || c + dc < 0 ||
              c + dc >= kWide) {
            continue;
          }
          const double share = 1 / std::sqrt(dr * dr + dc * dc),
                       d = at(r, c, l) - at(r + dr, c + dc, l);
          all += share;
          sum += share * d / (hybrid ? 1 + std::abs(d) / 0.2 : 1);
        }
      }
      ASSERT_GT(at(r, c, l), 0.1);
      worst = std::max(worst, std::abs(pulled[i * kSlices + l] + 2 * 0.8 * sum / all));
    }
    EXPECT_LT(worst, 1e-6) << hybrid;
  }
}

}  // namespace
}  // namespace tomoloom
