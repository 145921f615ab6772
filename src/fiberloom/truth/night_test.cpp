// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/truth/night.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "loom/base/median.hpp"

namespace fiberloom::truth {
namespace {

/// A galaxy with one line at 4500 Angstrom, a quasar and a star without any.
redshift::TemplateSet templates() {
  redshift::TemplateSet set;
  for (const char* kind : {"GALAXY", "QSO", "STAR"}) {
    redshift::Template t;
    t.spectype = kind;
    for (double w = 600; w < 11000; w += 1) t.wave.push_back(w);
    t.flux = Array2D<double>(1, t.wave.size(), 1.0);
    if (t.spectype == "GALAXY") t.flux(0, 3900) = 21;
    t.training = Array2D<double>(1, 1, 2.0);
    set.push_back(std::move(t));
  }
  return set;
}

TEST(SimulatedNight, ATargetIsTheSameWhoeverIsBesideIt) {
  NightOptions few{.nspec = 20}, many{.nspec = 60};
  const auto a = draw_field(templates(), few, 1, 0), b = draw_field(templates(), many, 1, 0);
  const auto other = draw_field(templates(), few, 2, 0);
  ASSERT_EQ(a.size(), 20U);
  std::size_t different = 0;
  for (std::size_t f = 0; f < a.size(); ++f) {
    EXPECT_EQ(a[f].truth.id, b[f].truth.id);
    EXPECT_EQ(a[f].truth.z, b[f].truth.z);
    EXPECT_NE(a[f].truth.id, other[f].truth.id);
    different += a[f].truth.z != other[f].truth.z;
  }
  EXPECT_GT(different, 15U);
}

TEST(SimulatedNight, HasSkyStarsAndTargetsInEverySmallSpectrograph) {
  std::array<int, 3> seen{};
  for (std::size_t f = 0; f < 24; ++f) ++seen[static_cast<std::size_t>(seen_by(f))];
  EXPECT_EQ(seen, (std::array<int, 3>{3, 2, 19}));
}

TEST(SimulatedNight, MagnitudesAreThoseOfTheRedCameraAndLinesAreShifted) {
  const redshift::TemplateSet set = templates();
  const NightOptions options{.nspec = 40};
  const auto targets = draw_field(set, options, 0, 0);
  std::vector<double> wave;
  for (double w = 3600; w <= 9824; w += 0.8) wave.push_back(w);
  SerialExecutor serial;
  const Array2D<double> flux = field_flux(targets, set, wave, serial);
  std::size_t lines = 0;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    double sum = 0, flat = 0;
    for (std::size_t i = 0; i < wave.size(); ++i) {
      if (targets[t].sees == Sees::kSky) {
        EXPECT_EQ(flux(t, i), 0);
      }
      if (wave[i] < 5760 || wave[i] > 7620) continue;
      sum += flux(t, i);
      flat +=
          40.8 * std::pow(10, -0.4 * (targets[t].truth.mag_r - 17)) * std::pow(6500 / wave[i], 2);
    }
    if (targets[t].sees == Sees::kSky) continue;
    EXPECT_NEAR(sum / flat, 1, 2e-3) << t;
    const double line = 4500 * (1 + targets[t].truth.z);
    if (targets[t].truth.spectype != "GALAXY" || line > 9800) continue;
    ++lines;
    const auto at = static_cast<std::size_t>(std::lround((line - 3600) / 0.8));
    EXPECT_GT(flux(t, at), 5 * flux(t, at - 10)) << t;
  }
  EXPECT_GT(lines, 5U);
}

TEST(SimulatedNight, TheMedianFibreHasThroughputOneAndTheMeanLampIsEven) {
  const NightOptions options{.nspec = 25};
  const Array2D<double> through = fiber_throughput(options, 'r', 3, {5760, 6500, 7600});
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> column;
    for (std::size_t f = 0; f < 25; ++f) column.push_back(through(f, i));
    EXPECT_NEAR(median_of(column), 1, 1e-12);
  }
  EXPECT_NE(through(0, 0), fiber_throughput(options, 'r', 4, {5760})(0, 0));
  double sum = 0;
  for (int lamp = 0; lamp < 4; ++lamp) sum += lamp_at(options, lamp, 4, 0.3, -0.8);
  EXPECT_NEAR(sum / 4, 1, 1e-12);
  EXPECT_NE(lamp_at(options, 0, 4, 0.3, -0.8), 1);
}

TEST(SimulatedNight, StarsOfTheGridAreThoseOfTheFormula) {
  const StellarGrid grid = star_grid();
  ASSERT_EQ(grid.nmodel(), 96U);
  const auto star = star_spectrum(grid.wave, {grid.teff[37], grid.logg[37], grid.metal[37]});
  for (std::size_t i = 0; i < star.size(); i += 100) {
    EXPECT_FLOAT_EQ(grid.flux(37, i), static_cast<float>(star[i]));
  }
  const std::vector<double> lines{6500, 6564.61};
  EXPECT_LT(star_spectrum(lines, {7000, 4, -1})[1], star_spectrum(lines, {5600, 4, -1})[1])
      << "hydrogen is deeper in hotter stars";
}

}  // namespace
}  // namespace fiberloom::truth
