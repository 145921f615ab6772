// SPDX-License-Identifier: BSD-3-Clause
// Amplitudes of the sky's continuum: chi2 is what the best amplitudes leave, with their prior.
#include "fiberloom/redshift/sky_continuum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fiberloom/redshift/scan.hpp"
#include "fiberloom/redshift/test_spectra.hpp"

namespace fiberloom::redshift {
namespace {

const std::vector<double> kHeights{1, 1.5, 0.7};

/// Six targets, of which one lacks a camera.
std::vector<test::Target> some_targets() {
  const Template t = test::line_template(3);
  std::vector<test::Target> targets;
  for (std::uint64_t i = 0; i < 6; ++i) {
    targets.push_back(test::make_target(t, kHeights, 0.02 + 0.02 * static_cast<double>(i), 9, i));
  }
  targets[3].spectra.pop_back();
  return targets;
}

void add_light(test::Spectrum& s, double light) {
  for (double& f : s.flux) f += light;
}

std::vector<SkyWidth> same_widths(const TargetSet& set, double sigma) {
  std::vector<SkyWidth> out;
  for (const WaveGrid& g : set.grids) out.push_back({g.wave, sigma});
  return out;
}

/// chi2 of target 2 at all redshifts, exact, after light was added to its cameras.
std::vector<double> chi2_with(std::vector<test::Target> targets, double first, double second,
                              double sigma, ScanMode mode = ScanMode::kExact) {
  add_light(targets[2].spectra[0], first);
  add_light(targets[2].spectra[1], second);
  TargetSet set =
      test::prepared(targets, {.negative_nsig = 0, .hot_pixel_nsig = 0, .sky_line_share = 0});
  add_sky_continuum(set, same_widths(set, sigma));
  SerialExecutor executor;
  const TemplateSet templates{test::line_template(3)};
  const auto curves = scan(set, templates, {.mode = mode}, executor);
  return {curves[0].chi2.row(2), curves[0].chi2.row(2) + curves[0].chi2.cols()};
}

TEST(SkyContinuum, ChiSquareIsThatOfTheBestAmplitudesWithTheirPrior) {
  constexpr double kSigma = 0.05;
  const std::vector<test::Target> targets = some_targets();
  const std::vector<double> found = chi2_with(targets, 0.04, -0.03, kSigma);
  // minus amplitudes a and b: a quadratic form in both, known from six of its values
  const auto value = [&](double a, double b, std::size_t i) {
    static std::map<std::pair<double, double>, std::vector<double>> known;
    auto& chi2 = known[{a, b}];
    if (chi2.empty()) chi2 = chi2_with(targets, 0.04 - a, -0.03 - b, 0);
    return chi2[i] + (a * a + b * b) / (kSigma * kSigma);
  };
  double most = 0;
  for (std::size_t i = 0; i < found.size(); i += 7) {
    constexpr double h = 0.1;
    const double v = value(0, 0, i), ap = value(h, 0, i), am = value(-h, 0, i), bp = value(0, h, i),
                 bm = value(0, -h, i), ab = value(h, h, i);
    const double ga = (ap - am) / 2, gb = (bp - bm) / 2, aa = ap + am - 2 * v, bb = bp + bm - 2 * v,
                 mixed = ab - ap - bp + v;
    const double determinant = aa * bb - mixed * mixed;
    const double x = (-ga * bb + gb * mixed) / determinant,
                 y = (-gb * aa + ga * mixed) / determinant;
    const double least = v + 0.5 * (ga * x + gb * y);
    ASSERT_NEAR(found[i], least, 1e-6 * least) << i;
    most = std::max(most, v - found[i]);
  }
  EXPECT_GT(most, 1);  // else there was nothing to see
}

TEST(SkyContinuum, AFastScanHasIt) {
  const std::vector<test::Target> targets = some_targets();
  const std::vector<double> exact = chi2_with(targets, 0.04, -0.03, 0.05);
  const std::vector<double> fast = chi2_with(targets, 0.04, -0.03, 0.05, ScanMode::kFast);
  for (std::size_t i = 0; i < exact.size(); ++i) ASSERT_NEAR(fast[i], exact[i], 1e-2) << i;
}

TEST(SkyContinuum, LightOfACameraMakesNoDifferenceWhereItsWidthIsLarge) {
  const std::vector<double> without = chi2_with(some_targets(), 0, 0, 1e4);
  const std::vector<double> with = chi2_with(some_targets(), 3, -2, 1e4);
  for (std::size_t i = 0; i < with.size(); ++i) ASSERT_NEAR(with[i], without[i], 1e-4) << i;
}

TEST(SkyContinuum, WithoutAWidthNothingIsThere) {
  TargetSet set = test::prepared(some_targets());
  add_sky_continuum(set, same_widths(set, 0));
  EXPECT_EQ(set.sky_terms, 0U);
  EXPECT_TRUE(set.targets[0].sky.empty());
}

TEST(SkyContinuum, ItsWidthIsWhatFibresOnTheSkyScatterByMoreThanTheirNoise) {
  const Template t = test::line_template(3);
  const std::vector<double> none{0, 0, 0};
  const CounterRng rng(3, 4);
  for (const double sigma : {0.0, 0.05, 0.2}) {
    SkyMeans means, few;
    for (std::uint64_t part = 0; part < 2; ++part) {  // sets of their own share cameras
      std::vector<test::Target> skies;
      for (std::uint64_t i = 0; i < 60; ++i) {
        const std::uint64_t n = 60 * part + i;
        skies.push_back(test::make_target(t, none, 0.05, 9, n));
        add_light(skies.back().spectra[0], sigma * rng.normal(n));
        if (n % 20 == 7) add_light(skies.back().spectra[0], 5);  // no empty fibre
      }
      means.add(test::prepared(skies));
      few.add(test::prepared(std::span(skies).first(3)));
    }
    const std::vector<SkyWidth> widths = means.widths();
    ASSERT_EQ(widths.size(), 2U);
    EXPECT_NEAR(widths[0].sigma, sigma, 0.2 * sigma + 0.01);
    EXPECT_LT(widths[1].sigma, 0.01);
    EXPECT_EQ(few.widths()[0].sigma, 0);
  }
}

}  // namespace
}  // namespace fiberloom::redshift
