// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/exposure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/simulate/spectra.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom {
namespace {

BinGrid uniform_bins(double first, double last, double step) {
  BinGrid grid;
  grid.step_aa = step;
  for (double w = first; w <= last; w += step) grid.wave.push_back(w);
  return grid;
}

/// A CCD that covers the whole r grid but only a few fibres.
PsfModel narrow_psf(int nfiber) {
  SimulatedPsfOptions options = camera_psf_options('r');
  options.nfiber = nfiber;
  options.npix_x = 60 + 8 * nfiber;
  return make_psf(options);
}

TEST(Targets, AreFortySkyFibresTenStandardsAndGalaxies) {
  const auto targets = make_targets(500, 0, 1);
  std::set<std::int64_t> ids;
  int sky = 0, stars = 0;
  for (const Target& t : targets) {
    ids.insert(t.targetid);
    sky += t.kind == TargetClass::kSky ? 1 : 0;
    stars += t.kind == TargetClass::kStandardStar ? 1 : 0;
    EXPECT_GE(t.redshift, -0.001);
  }
  EXPECT_EQ(sky, 40);
  EXPECT_EQ(stars, 10);
  EXPECT_EQ(ids.size(), 500U);
}

TEST(Targets, AreTheSameWhenFewerFibresAreAskedFor) {
  const auto all = make_targets(500, 3, 7), few = make_targets(30, 3, 7);
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(few[i].targetid, all[i].targetid);
    EXPECT_EQ(few[i].redshift, all[i].redshift);
  }
}

TEST(Sky, IsMeasuredAt300InItsBrightestBin) {
  for (const char band : {'b', 'r', 'z'}) {
    const auto wave = camera_wave_grid(band);
    EXPECT_NEAR(brightest_sky_snr(band, uniform_bins(wave.front() - 20, wave.back() + 20, 0.1)),
                300.0, 3.0)
        << band;
  }
}

TEST(Sky, HoldsTheSameLightOnEveryGrid) {
  const auto total = [](double step) {
    const auto v = sky_electrons('r', uniform_bins(5700 + step / 2, 7700, step), 900);
    return std::accumulate(v.begin(), v.end(), 0.0);
  };
  EXPECT_NEAR(total(0.8) / total(0.2), 1.0, 2e-3);
}

TEST(Sky, ScalesWithTheExposureTime) {
  const BinGrid grid = uniform_bins(6000, 6400, 0.4);
  const auto one = sky_electrons('r', grid, 900), two = sky_electrons('r', grid, 1800);
  for (std::size_t j = 0; j < one.size(); ++j) EXPECT_NEAR(two[j], 2 * one[j], 1e-9 * two[j]);
}

TEST(TargetSpectrum, HasItsLinesAtTheRedshift) {
  Target t;
  t.kind = TargetClass::kElg;
  t.redshift = 0.3;
  t.line_strength = 1000;
  t.dispersion_kms = 60;
  const BinGrid grid = uniform_bins(5760, 7620, 0.4);
  const auto v = target_electrons(t, 'r', grid, 900);
  const auto peak = std::max_element(v.begin(), v.end()) - v.begin();
  EXPECT_NEAR(grid.wave[static_cast<std::size_t>(peak)], 5008.24 * 1.3, 0.5);
  const double efficiency = camera_efficiency('r', 5008.24 * 1.3);
  double oiii = 0;
  for (std::size_t j = 0; j < v.size(); ++j) {
    if (std::abs(grid.wave[j] - 5008.24 * 1.3) < 10) oiii += v[j];
  }
  EXPECT_NEAR(oiii, 600.0 * efficiency, 1e-6 * oiii);
}

TEST(TargetSpectrum, IsEmptyForASkyFibre) {
  for (const double e : target_electrons({}, 'r', uniform_bins(6000, 6100, 0.8), 900)) {
    EXPECT_EQ(e, 0.0);
  }
}

TEST(Exposure, GivesTheSameBytesForAnyNumberOfThreads) {
  const PsfModel psf = narrow_psf(12);
  ExposureOptions options;
  options.nspec = 12;
  options.defects = DefectOptions{};
  SerialExecutor serial;
  const SimulatedExposure expected = simulate_exposure(psf, options, serial);
  for (const std::size_t threads : {2U, 3U}) {
    TestThreads executor(threads);
    const SimulatedExposure got = simulate_exposure(psf, options, executor);
    const std::size_t n = expected.frame.image.size();
    EXPECT_EQ(std::memcmp(got.frame.image.data(), expected.frame.image.data(), 4 * n), 0);
    EXPECT_EQ(std::memcmp(got.frame.ivar.data(), expected.frame.ivar.data(), 4 * n), 0);
    EXPECT_EQ(std::memcmp(got.frame.mask.data(), expected.frame.mask.data(), 4 * n), 0);
    EXPECT_EQ(std::memcmp(got.truth_flux.data(), expected.truth_flux.data(),
                          8 * expected.truth_flux.size()),
              0);
  }
}

TEST(Exposure, IsTheTruthSeenThroughThePsfWithNoiseOfUnitWidth) {
  const PsfModel psf = narrow_psf(6);
  ExposureOptions options;
  options.nspec = 6;
  options.truth_grid = TruthGrid::kExtraction;
  options.cosmics_per_ccd = 0;
  SerialExecutor serial;
  const SimulatedExposure e = simulate_exposure(psf, options, serial);
  Array2D<double> electrons = e.truth_flux;
  for (std::size_t k = 0; k < electrons.size(); ++k) {
    electrons.data()[k] *= e.truth_wave[1] - e.truth_wave[0];
  }
  const Array2D<double> mean = project(psf, e.truth_wave, electrons, serial);
  double sum2 = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double pull = e.frame.image.data()[i] - mean.data()[i];
    sum2 += pull * pull * e.frame.ivar.data()[i];
  }
  const auto n = static_cast<double>(mean.size());
  EXPECT_NEAR(sum2 / n, 1.0, 5 * std::sqrt(2.1 / n));
}

TEST(Exposure, TiesItsTruthToTheExtractionGrid) {
  const PsfModel psf = narrow_psf(3);
  ExposureOptions options;
  options.nspec = 3;
  options.truth_grid = TruthGrid::kExtraction;
  SerialExecutor serial;
  const SimulatedExposure e = simulate_exposure(psf, options, serial);
  const auto grid = camera_wave_grid('r');
  const auto at = std::lower_bound(e.truth_wave.begin(), e.truth_wave.end(), grid[0] - 0.1);
  ASSERT_GE(e.truth_wave.end() - at, static_cast<std::ptrdiff_t>(grid.size()));
  for (std::size_t j = 0; j < grid.size(); ++j) {
    EXPECT_NEAR(at[static_cast<std::ptrdiff_t>(j)], grid[j], 1e-9);
  }
}

TEST(Exposure, KeepsTargetsButNotNoiseFromOneExposureToTheNext) {
  const PsfModel psf = narrow_psf(3);
  ExposureOptions options;
  options.nspec = 3;
  SerialExecutor serial;
  const SimulatedExposure one = simulate_exposure(psf, options, serial);
  options.expid = 2;
  const SimulatedExposure two = simulate_exposure(psf, options, serial);
  EXPECT_EQ(one.targets[2].targetid, two.targets[2].targetid);
  EXPECT_EQ(std::memcmp(one.truth_flux.data(), two.truth_flux.data(), 8 * one.truth_flux.size()),
            0);
  EXPECT_NE(std::memcmp(one.frame.image.data(), two.frame.image.data(), 4 * one.frame.image.size()),
            0);
}

TEST(Exposure, RefusesAPsfOfAnotherCamera) {
  ExposureOptions options;
  options.band = 'z';
  SerialExecutor serial;
  try {
    static_cast<void>(simulate_exposure(narrow_psf(3), options, serial));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), kNotCovered);
  }
}

}  // namespace
}  // namespace fiberloom
