// SPDX-License-Identifier: BSD-3-Clause
// Standard stars whose temperature, gravity, metallicity and velocity are known.
#include "fiberloom/calibrate/star_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "fiberloom/calibrate/bin_means.hpp"
#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/calibrate/medians.hpp"
#include "fiberloom/calibrate/test_stars.hpp"
#include "fiberloom/truth/stars.hpp"
#include "loom/base/test_status.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::calibrate {
namespace {

std::vector<std::size_t> all_models() {
  std::vector<std::size_t> out(test::stellar_grid().nmodel());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

double mean_of(const std::vector<double>& parameter, const std::vector<double>& shares) {
  return std::inner_product(parameter.begin(), parameter.end(), shares.begin(), 0.0);
}

TEST(StarFit, FindsTheStarAndItsVelocity) {
  SerialExecutor serial;
  const test::StarPlace place{6250, 4.2, -1.2, 0.0004};
  const test::ObservedStar star(place, 50, 1);
  const StarFit fit = fit_star(star.cameras(), test::stellar_grid(), all_models(), {}, serial);
  EXPECT_NEAR(fit.redshift, place.redshift, 5e-5) << "two steps and a half";
  EXPECT_NEAR(mean_of(test::stellar_grid().teff, fit.coefficients), place.teff, 120)
      << "one star's noise";
  EXPECT_NEAR(mean_of(test::stellar_grid().metal, fit.coefficients), place.metal, 0.2);
  EXPECT_NEAR(std::accumulate(fit.coefficients.begin(), fit.coefficients.end(), 0.0), 1, 1e-12);
  EXPECT_LT(fit.chi2_per_dof, 0.3) << "10 % of the model's error stand beside 2 % of noise";
}

/// Between lines half the pixels of a bright star lie far above the running median.
TEST(StarFit, OfABrightStarTakesOnlySpikesForSpikes) {
  SerialExecutor serial;
  double ours = 0, theirs = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const double redshift = 1.1e-4 * (static_cast<double>(seed) - 3.4);
    const test::ObservedStar star({5950, 3.8, -0.9, redshift}, 200, seed);
    const auto off = [&](SpikeLimit spikes) {
      const StarFit fit =
          fit_star(star.cameras(), test::stellar_grid(), all_models(), {.spikes = spikes}, serial);
      return std::abs(fit.redshift - redshift);
    };
    ours = std::max(ours, off(SpikeLimit::kModel));
    theirs = std::max(theirs, off(SpikeLimit::kNoise));
  }
  EXPECT_LT(ours, 2e-5) << "a step";
  EXPECT_GT(theirs, 3e-5);
}

/// In a forest of lines a median of noisy data is nearer to them than that of a model is: lines
/// look weaker.
TEST(StarFit, OfAFaintStarIsNoCoolerThanTheStar) {
  SerialExecutor serial;
  const StellarGrid grid = truth::star_grid();
  std::vector<std::size_t> models;
  std::vector<double> hot;  // their temperatures
  for (std::size_t m = 0; m < grid.nmodel(); ++m) {
    if (grid.logg[m] != 4 || std::abs(grid.metal[m] + 1.25) > 0.3) continue;
    models.push_back(m), hot.push_back(grid.teff[m]);
  }
  double mean = 0, median = 0;
  constexpr int kStars = 8;
  for (int s = 0; s < kStars; ++s) {
    const double teff = 5850 + 100 * s;
    const std::vector<double> flux = truth::star_spectrum(grid.wave, {teff, 4, -1.25});
    const auto light = [&](double wave) { return interpolate(grid.wave, flux, wave); };
    const test::ObservedStar star(light, 15, static_cast<std::uint64_t>(s));
    const auto off = [&](Continuum continuum) {
      const StarFit fit = fit_star(star.cameras(), grid, models, {.continuum = continuum}, serial);
      return (mean_of(hot, fit.coefficients) - teff) / kStars;
    };
    mean += off(Continuum::kMean), median += off(Continuum::kMedian);
  }
  EXPECT_NEAR(mean, 0, 80);
  EXPECT_LT(median, -120);
}

TEST(StarFit, GivesTheShapeOfTheLightThatTheStarHas) {
  SerialExecutor serial;
  const test::StarPlace place{5950, 3.8, -0.9, -0.0003};
  const test::ObservedStar star(place, 100, 2);
  const StarFit fit = fit_star(star.cameras(), test::stellar_grid(), all_models(), {}, serial);
  double worst = 0;
  for (double wave = 4000; wave < 9000; wave += 250) {  // between lines
    double model = 0, middle = 0;
    for (std::size_t m = 0; m < test::stellar_grid().nmodel(); ++m) {
      const auto i = static_cast<std::size_t>((wave - 3400) / 0.4);
      const auto i6500 = static_cast<std::size_t>((6500.0 - 3400) / 0.4);
      model += fit.coefficients[m] * static_cast<double>(test::stellar_grid().flux(m, i));
      middle += fit.coefficients[m] * static_cast<double>(test::stellar_grid().flux(m, i6500));
    }
    const double truth = test::stellar_flux(wave, place.teff, place.logg, place.metal) /
                         test::stellar_flux(6500, place.teff, place.logg, place.metal);
    worst = std::max(worst, std::abs(model / middle / truth - 1));
  }
  EXPECT_LT(worst, 0.03);
}

TEST(StarFit, IsTheSameForAnyNumberOfThreads) {
  SerialExecutor serial;
  TestThreads threads(3);
  const test::ObservedStar star({6000, 4.1, -1.4, 0.0001}, 20, 3);
  const StarFit a = fit_star(star.cameras(), test::stellar_grid(), all_models(), {}, serial),
                b = fit_star(star.cameras(), test::stellar_grid(), all_models(), {}, threads);
  EXPECT_EQ(a.coefficients, b.coefficients);
  EXPECT_EQ(a.redshift, b.redshift);
  EXPECT_EQ(a.chi2_per_dof, b.chi2_per_dof);
}

TEST(StarFit, WantsModelsThatReachAndPixels) {
  SerialExecutor serial;
  test::ObservedStar star({6000, 4, -1.5, 0}, 20, 4);
  StellarGrid narrow = test::stellar_grid();
  for (double& w : narrow.wave) w += 400;
  const auto status = [&](const StellarGrid& g, const std::vector<std::size_t>& models) {
    return loom::test::status_of([&] { (void)fit_star(star.cameras(), g, models, {}, serial); });
  };
  EXPECT_EQ(status(narrow, all_models()), Status::kWrongShape);
  EXPECT_EQ(status(test::stellar_grid(), {}), Status::kWrongShape);
  star.hide();
  EXPECT_EQ(status(test::stellar_grid(), all_models()), Status::kNumerical);
}

TEST(NodesAbout, AreThoseThatAreThere) {
  const std::vector<std::size_t> models = all_models();
  const auto number = [&](double teff, double logg, double metal) {
    for (std::size_t m = 0; m < models.size(); ++m) {
      if (test::stellar_grid().teff[m] == teff && test::stellar_grid().logg[m] == logg &&
          test::stellar_grid().metal[m] == metal)
        return m;
    }
    return models.size();
  };
  EXPECT_EQ(nodes_about(test::stellar_grid(), models, number(6400, 4, -2.5)).size(), 17U)
      << "18 at an edge, one of them missing";
  const std::vector<GridNode> nodes =
      nodes_about(test::stellar_grid(), models, number(6100, 4, -1.5));
  EXPECT_EQ(nodes.size(), 25U) << "two of 27 are missing";
  for (const GridNode& n : nodes) {
    EXPECT_EQ(test::stellar_grid().teff[n.model], 6100 + 300 * n.at[0]);
    EXPECT_EQ(test::stellar_grid().metal[n.model], -1.5 + n.at[2]);
  }
}

/// Spectra of 8 nodes, as three numbers each: a mixture is where those of the place are.
TEST(FitBetweenNodes, IsTheMixtureThatTheDataAre) {
  std::vector<GridNode> nodes;
  for (std::size_t k = 0; k < 8; ++k) {
    const auto bit = [&](std::size_t n) { return (k >> n & 1U) != 0 ? 1.0 : 0.0; };
    nodes.push_back({k, {bit(2), bit(1), bit(0)}});
  }
  const auto spectrum = [](double x, double y, double z) {
    return std::array<double, 4>{1.0, 3 * x, 2 * y, 5 * z};
  };
  const std::array<double, 4> data = spectrum(0.337, 0.621, 0.15);
  const auto left = [&](std::size_t node) {
    auto out = spectrum(nodes[node].at[0], nodes[node].at[1], nodes[node].at[2]);
    std::transform(data.begin(), data.end(), out.begin(), out.begin(), std::minus<>{});
    return out;
  };
  Array2D<double> a(8, 8, 0.0);
  for (std::size_t r = 0; r < 8; ++r) {
    for (std::size_t c = 0; c < 8; ++c) {
      const auto one = left(r), two = left(c);
      a(r, c) = std::inner_product(one.begin(), one.end(), two.begin(), 0.0);
    }
  }
  const NodeFit fit = fit_between_nodes(nodes, a);
  EXPECT_NEAR(fit.chi2, 0, 1e-9);
  EXPECT_NEAR(fit.coefficients[7], 0.337 * 0.621 * 0.15, 1e-6);
  EXPECT_NEAR(fit.coefficients[0], 0.663 * 0.379 * 0.85, 1e-6);
}

TEST(BinMeans, AreThoseOfResampleFlux) {
  std::vector<double> at;
  for (std::size_t i = 0; i < 300; ++i) at.push_back(3600 + 0.8 * static_cast<double>(i));
  const std::span<const float> flux(test::stellar_grid().flux.row(3),
                                    test::stellar_grid().wave.size());
  std::vector<double> means(at.size());
  BinMeans(at, test::stellar_grid().wave)(flux, means);
  const std::vector<double> plain =
      resample_flux(at, test::stellar_grid().wave, std::vector<double>(flux.begin(), flux.end()));
  for (std::size_t i = 0; i < at.size(); ++i) EXPECT_NEAR(means[i] / plain[i], 1, 1e-11) << i;
}

}  // namespace
}  // namespace fiberloom::calibrate
