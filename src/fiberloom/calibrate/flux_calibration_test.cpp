// SPDX-License-Identifier: BSD-3-Clause
// Flux calibrations of simulated fields whose truth is known.
#include "fiberloom/calibrate/flux_calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fiberloom/spectrum/banded.hpp"
#include "fiberloom/truth/exposures.hpp"
#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kNspec = 60, kRed = 1;

/// A field of which flat and sky are perfectly known and taken out; ivar of the light.
struct StarField {
  truth::Exposure truth;
  Spectra spectra;
  StarModels models;
};

const truth::Spectrograph& spectrograph() {
  static const truth::Spectrograph one(900);
  return one;
}

StarField star_field(std::uint64_t seed, double hot_pixels = 0) {
  SerialExecutor serial;
  truth::ExposureOptions o;
  o.seed = seed;
  o.nspec = kNspec;
  o.star_every = 5;
  o.noise = truth::KnownNoise::kLight;
  o.hot_pixels = hot_pixels;
  StarField out{truth::field_exposure(spectrograph(), kRed, o, 1, serial), {}, {}};
  out.spectra = out.truth.spectra;
  for (std::size_t k = 0; k < out.spectra.flux.size(); ++k) {
    const double through = out.truth.throughput.data()[k];
    double& f = out.spectra.flux.data()[k];
    f = (f - out.truth.sky.data()[k]) / through;
    out.spectra.ivar.data()[k] *= through * through;
  }
  out.models.wave = out.spectra.wave;
  for (const std::size_t s : standard_star_rows(out.spectra)) {
    const double* flux = out.truth.flux.row(s);
    out.models.stars.push_back({s, {flux, flux + out.spectra.nwave()}});
  }
  return out;
}

FluxFit fitted(const StarField& f, const FluxOptions& options = {}) {
  SerialExecutor serial;
  return compute_flux_calibration(f.spectra, f.models, options, serial);
}

/// C_f as a flat spectrum shows it.
std::vector<double> seen_by(const StarField& f, std::size_t s) {
  const Banded<const float> r = banded(f.spectra.resolution, s);
  std::vector<double> out(f.spectra.nwave());
  multiply(r, std::span<const double>(f.truth.calibration), std::span<double>(out));
  const std::vector<double> sums = row_sums(r);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] /= sums[i];
  return out;
}

/// Whether gas between us and the stars absorbs there: no truth of the instrument's.
bool interstellar(double wave) { return wave > 5885 && wave < 5904; }

double mean_square_pull(const FluxOptions& options) {
  double squares = 0, count = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const StarField f = star_field(seed);
    const FluxFit fit = fitted(f, options);
    const std::vector<double> truth = seen_by(f, 30);
    for (std::size_t i = 10; i + 10 < truth.size(); ++i) {
      if (interstellar(fit.wave[i])) continue;
      EXPECT_GT(fit.ivar(30, i), 0) << i;
      squares += std::pow(fit.calib(30, i) - truth[i], 2) * fit.ivar(30, i), ++count;
    }
  }
  return squares / count;
}

TEST(FluxCalibration, IsTheTruthWithinItsErrors) {
  EXPECT_NEAR(mean_square_pull({}), 1, 0.15);
  EXPECT_GT(mean_square_pull(desispec_flux()), 1.3) << "a variance of other weights";
}

TEST(FluxCalibration, LeavesOutAStarThatIsNoneAndClipsCosmics) {
  StarField f = star_field(5, 0.001);
  const std::size_t faint = f.models.stars[2].row, other = f.models.stars[4].row;
  for (std::size_t i = 0; i < f.spectra.nwave(); ++i) {
    f.spectra.flux(faint, i) *= 0.1;
    f.spectra.flux(other, i) *= 1.6;
  }
  const FluxFit fit = fitted(f);
  EXPECT_EQ(fit.left_out, 2U);
  EXPECT_EQ(std::count(fit.stars.begin(), fit.stars.end(), faint), 0);
  EXPECT_EQ(std::count(fit.stars.begin(), fit.stars.end(), other), 0);
  EXPECT_GT(fit.clipped, 3U);
  EXPECT_EQ(fitted(f, desispec_flux()).clipped, 0U) << "20 % of a spike's own light hide it";
  double inverse = 0;
  for (const double a : fit.scales) inverse += 1 / a;
  EXPECT_NEAR(inverse / static_cast<double>(fit.scales.size()), 1, 1e-3);
  EXPECT_NEAR(fit.calib(30, 500) / seen_by(f, 30)[500], 1, 0.05);
}

TEST(FluxCalibration, GivesSpectraOfFluxWithPullsOfWidthOne) {
  double sum = 0, squares = 0, count = 0, telluric = 0, lines = 0;
  for (const std::uint64_t seed : {6U, 7U}) {
    StarField f = star_field(seed);
    const FluxFit fit = fitted(f);
    apply_flux_calibration(f.spectra, fit);
    for (std::size_t s = 1; s < kNspec; s += 2) {
      std::vector<double> seen(f.spectra.nwave());
      multiply(banded(std::as_const(f.spectra.resolution), s),
               std::span<const double>(f.truth.flux.row(s), seen.size()), std::span<double>(seen));
      for (std::size_t i = 10; i + 10 < seen.size(); ++i) {
        const double v = f.spectra.ivar(s, i);
        if (!(v > 0) || interstellar(fit.wave[i])) continue;
        const double pull = (f.spectra.flux(s, i) - seen[i]) * std::sqrt(v);
        sum += pull, squares += pull * pull, ++count;
        if (fit.wave[i] > 6870 && fit.wave[i] < 6940) telluric += pull * pull, ++lines;
      }
    }
  }
  EXPECT_NEAR(std::sqrt(telluric / lines), 1, 0.06) << "where lines are sharper than R";
  EXPECT_GT(count, 2 * 29 * 2200);
  EXPECT_NEAR(sum / count, 0, 0.03);
  EXPECT_NEAR(std::sqrt(squares / count), 1, 0.02);
}

TEST(FluxCalibration, OfAFlatFiberWithMoreLightIsSmallerForAPoint) {
  const StarField f = star_field(8);
  FluxOptions o;
  o.flat_to_psf.assign(kNspec, 1.0);
  o.flat_to_psf[7] = 1.25;
  const FluxFit plain = fitted(f), corrected = fitted(f, o);
  EXPECT_NEAR(corrected.calib(7, 500), plain.calib(7, 500) / 1.25, 1e-9);
  EXPECT_NEAR(corrected.ivar(7, 500) / plain.ivar(7, 500), 1.25 * 1.25, 1e-9);
  // flux = R' s of a point whose light the fibre lost: F p = R C s
  Spectra one = f.spectra, two = f.spectra;
  apply_flux_calibration(one, plain);
  apply_flux_calibration(two, corrected);
  EXPECT_NEAR(two.flux(7, 500) / one.flux(7, 500), 1.25, 1e-9);
  EXPECT_EQ(two.resolution(7, 5, 500), one.resolution(7, 5, 500));
}

TEST(FluxCalibration, FallsBackToTheAverageWhereStarsAreTooFaint) {
  StarField f = star_field(9);
  for (std::size_t k = 0; k < f.spectra.flux.size(); ++k) {
    f.spectra.flux.data()[k] *= 0.5, f.spectra.ivar.data()[k] *= 0.001;
  }
  EXPECT_EQ(loom::test::status_of([&] { (void)fitted(f); }), Status::kNumerical);
  FluxOptions o;
  o.average_wave = f.spectra.wave;
  for (const double c : f.truth.calibration) o.average.push_back(3 * c);
  const FluxFit fit = fitted(f, o);
  EXPECT_TRUE(fit.is_average);
  EXPECT_NEAR(fit.calib(3, 500), 0.5 * f.truth.calibration[500], 0.05 * f.truth.calibration[500]);
  EXPECT_NEAR(fit.ivar(3, 500) * std::pow(fit.calib(3, 500), 2), 1, 1e-9) << "100 %";
  EXPECT_EQ(fit.mask(3, 500), 1U);
}

TEST(FluxCalibration, IsTheSameForAnyNumberOfThreads) {
  const StarField f = star_field(10);
  TestThreads threads(3);
  const FluxFit a = fitted(f), b = compute_flux_calibration(f.spectra, f.models, {}, threads);
  EXPECT_TRUE(std::equal(a.calib.data(), a.calib.data() + a.calib.size(), b.calib.data()));
  EXPECT_TRUE(std::equal(a.ivar.data(), a.ivar.data() + a.ivar.size(), b.ivar.data()));
}

TEST(FluxCalibration, WantsStarsWithLightAndModels) {
  StarField f = star_field(11);
  SerialExecutor serial;
  const auto status = [&](const Spectra& s, const StarModels& m) {
    return loom::test::status_of([&] { (void)compute_flux_calibration(s, m, {}, serial); });
  };
  EXPECT_EQ(status(f.spectra, {f.models.wave, {}}), Status::kNumerical);
  StarModels beyond = f.models;
  beyond.stars[0].row = kNspec;
  EXPECT_EQ(status(f.spectra, beyond), Status::kWrongShape);
  Spectra nameless = f.spectra;
  nameless.fibermap.reset();
  EXPECT_EQ(loom::test::status_of([&] { (void)standard_star_rows(nameless); }),
            Status::kMissingKeyword);
  for (std::size_t k = 0; k < f.spectra.ivar.size(); ++k) f.spectra.ivar.data()[k] = 0;
  EXPECT_EQ(status(f.spectra, f.models), Status::kNumerical);
}

TEST(ResampleFlux, KeepsLightAndIsZeroBeyond) {
  std::vector<double> x(400), flux(400), at(50);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 6000 + 0.13 * static_cast<double>(i);
    flux[i] = 2 + std::exp(-0.5 * std::pow((x[i] - 6020) / 0.5, 2));
  }
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = 5990 + 2.1 * static_cast<double>(i);
  const std::vector<double> out = resample_flux(at, x, flux);
  const double before = 0.13 * std::accumulate(flux.begin(), flux.end(), 0.0);
  EXPECT_NEAR(2.1 * std::accumulate(out.begin(), out.end(), 0.0), before, 1e-9 * before);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[49], 0);
  EXPECT_NEAR(out[10], 2, 1e-6);
}

}  // namespace
}  // namespace fiberloom::calibrate
