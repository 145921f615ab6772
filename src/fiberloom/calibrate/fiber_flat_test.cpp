// SPDX-License-Identifier: BSD-3-Clause
// Flats of lamps whose truth is known.
#include "fiberloom/calibrate/fiber_flat.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fiberloom/calibrate/test_fibers.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kFibers = 21, kBins = 320;

struct Lamp {
  Spectra spectra;
  Array2D<double> flat;  ///< relative to the median fibre
};

/// Fibres that pass 0.8 to 1.2 of a lamp's light, each with ripples of its own, S/N 100 to 200.
Lamp lamp(std::uint64_t seed) {
  const CounterRng rng(seed, 12);
  Lamp out;
  Spectra& s = out.spectra = test::blank_spectra(kFibers, kBins, 6000);
  out.flat = Array2D<double>(kFibers, kBins);
  std::vector<double> light(kBins), seen(kBins);
  for (std::size_t i = 0; i < kBins; ++i) {
    light[i] =
        20000 * (1 + 0.5 * std::sin(0.03 * static_cast<double>(i))) + (i % 90 == 40 ? 4e3 : 0);
  }
  for (std::size_t f = 0; f < kFibers; ++f) {
    const auto x = static_cast<double>(f);
    test::set_resolution(s.resolution, f, 0.8 + 0.01 * x);
    multiply(banded(std::as_const(s.resolution), f), std::span<const double>(light),
             std::span<double>(seen));
    // fibre 10 is the median one everywhere
    const double level = 1 + 0.02 * (x - 10);
    for (std::size_t i = 0; i < kBins; ++i) {
      const double ripple = 0.005 * std::sin(0.02 * static_cast<double>(i));
      out.flat(f, i) = level * (1 + (x - 10) * ripple);
      const double electrons = out.flat(f, i) * seen[i];
      s.ivar(f, i) = 1 / electrons;
      s.flux(f, i) = electrons + std::sqrt(electrons) * rng.normal(f * kBins + i);
    }
  }
  return out;
}

FiberFlatOptions without_systematic(FiberFlatOptions o) {
  o.systematic = 0;
  return o;
}

/// Mean square of (flat - truth) / sigma: as they are, and without what all fibres share at a
/// wavelength.
struct Pulls {
  double mean = 0, square = 0, square_of_own = 0;
};

Pulls pulls_against_truth(const FiberFlatOptions& options) {
  SerialExecutor serial;
  Pulls out;
  double count = 0, own = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Lamp truth = lamp(seed);
    const FiberFlatFit got = compute_fiber_flat(truth.spectra, 'r', options, serial);
    EXPECT_GT(got.chi2_per_dof, 0.9);
    EXPECT_LT(got.chi2_per_dof, 1.2);
    for (std::size_t i = 10; i + 10 < kBins; ++i) {
      double shared = 0, weight = 0;  // of the relative error
      for (std::size_t f = 0; f < kFibers; ++f) {
        EXPECT_GT(got.ivar(f, i), 0) << f << " " << i;
        const double t = truth.flat(f, i), w = got.ivar(f, i) * t * t;
        shared += w * (got.flat(f, i) / t - 1), weight += w;
      }
      for (std::size_t f = 0; f < kFibers; ++f) {
        const double t = truth.flat(f, i), error = got.flat(f, i) - t;
        const double mine = error - t * shared / weight;
        out.mean += error * std::sqrt(got.ivar(f, i));
        out.square += error * error * got.ivar(f, i);
        out.square_of_own += mine * mine * got.ivar(f, i);
      }
      count += kFibers, own += kFibers - 1;
    }
  }
  return {out.mean / count, out.square / count, out.square_of_own / own};
}

TEST(FiberFlat, IsTheTruthWithinItsErrors) {
  const Pulls pulls = pulls_against_truth(without_systematic(FiberFlatOptions()));
  EXPECT_NEAR(pulls.square_of_own, 1, 0.03);
  EXPECT_NEAR(pulls.mean, 0, 0.05);
  EXPECT_LT(pulls.square, 1.12) << "the mean of 21 fibres has noise too";
}

TEST(FiberFlat, HasTheMedianFibersNoiseInAllOfThemByThePeersRules) {
  const Pulls pulls = pulls_against_truth(without_systematic(desispec_fiber_flat()));
  EXPECT_NEAR(pulls.square_of_own, 1, 0.03);
  EXPECT_GT(pulls.square, 1.5);
}

TEST(FiberFlat, MasksAndBridgesWhatIsNoLight) {
  Lamp truth = lamp(4);
  Spectra& s = truth.spectra;
  s.flux(3, 100) *= 1.5;  // a cosmic ray that nobody flagged
  s.flux(4, 120) = std::numeric_limits<double>::quiet_NaN();
  s.ivar(5, 130) = 0;
  s.mask(6, 140) = 1;
  for (std::size_t i = 0; i < kBins; ++i) s.ivar(7, i) = s.ivar(13, i) = 0;  // 10 stays median
  SerialExecutor serial;
  const FiberFlatFit got = compute_fiber_flat(s, 'r', {}, serial);
  EXPECT_EQ(got.rejected, 1U);
  EXPECT_EQ(got.lost_fibers, 2U);
  const auto expect_bridged = [&](std::size_t f, std::size_t i) {
    EXPECT_EQ(got.mask(f, i), kBadFiberFlat) << f;
    EXPECT_EQ(got.ivar(f, i), 0) << f;
    EXPECT_NEAR(got.flat(f, i), truth.flat(f, i), 0.01) << f;
  };
  expect_bridged(3, 100);
  expect_bridged(4, 120);
  expect_bridged(5, 130);
  expect_bridged(6, 140);
  EXPECT_EQ(got.mask(7, 50), kBadFiberFlat);
  EXPECT_EQ(got.ivar(7, 50), 0);
  EXPECT_EQ(got.mask(8, 100), 0U);
}

TEST(FiberFlat, LeavesOutFibersThatTheFibermapForbids) {
  Lamp truth = lamp(5);
  std::vector<std::int32_t> status(kFibers, 0);
  status[2] = kBrokenFiber;
  status[3] = kBadAmpR;  // no reason in a flat
  Table map;
  map.add("FIBERSTATUS", std::span<const std::int32_t>(status));
  truth.spectra.fibermap = map;
  SerialExecutor serial;
  const FiberFlatFit got = compute_fiber_flat(truth.spectra, 'r', {}, serial);
  EXPECT_EQ(got.ivar(2, 50), 0);
  EXPECT_GT(got.ivar(3, 50), 0);
  EXPECT_EQ(got.lost_fibers, 1U);
}

TEST(FiberFlat, IsTheSameForAnyNumberOfThreads) {
  const Lamp truth = lamp(6);
  SerialExecutor serial;
  TestThreads threads(3);
  const FiberFlatFit a = compute_fiber_flat(truth.spectra, 'r', {}, serial);
  const FiberFlatFit b = compute_fiber_flat(truth.spectra, 'r', {}, threads);
  EXPECT_TRUE(std::equal(a.flat.data(), a.flat.data() + a.flat.size(), b.flat.data()));
  EXPECT_TRUE(std::equal(a.ivar.data(), a.ivar.data() + a.ivar.size(), b.ivar.data()));
  EXPECT_EQ(a.mean, b.mean);
}

TEST(FiberFlat, RefusesALampWithoutLightOrResolution) {
  Lamp truth = lamp(7);
  SerialExecutor serial;
  for (std::size_t i = 0; i < truth.spectra.ivar.size(); ++i) truth.spectra.ivar.data()[i] = 0;
  EXPECT_EQ(
      loom::test::status_of([&] { (void)compute_fiber_flat(truth.spectra, 'r', {}, serial); }),
      Status::kNumerical);
  truth.spectra.resolution = {};
  EXPECT_EQ(
      loom::test::status_of([&] { (void)compute_fiber_flat(truth.spectra, 'r', {}, serial); }),
      Status::kWrongShape);
}

TEST(ApplyFiberFlat, DividesAndPropagatesBothErrors) {
  const Lamp truth = lamp(8);
  SerialExecutor serial;
  FiberFlatFit flat = compute_fiber_flat(truth.spectra, 'r', {}, serial);
  flat.mask(1, 60) = kBadFiberFlat;
  flat.ivar(1, 60) = 0;
  flat.flat(1, 70) = NAN;
  Spectra science = truth.spectra;
  apply_fiber_flat(science, flat);
  const double f = truth.spectra.flux(9, 80), c = flat.flat(9, 80);
  EXPECT_EQ(science.flux(9, 80), f / c);
  const double variance =
      1 / truth.spectra.ivar(9, 80) / (c * c) + f * f / (flat.ivar(9, 80) * c * c * c * c);
  EXPECT_NEAR(science.ivar(9, 80) * variance, 1, 1e-12);
  EXPECT_EQ(science.mask(9, 80), 0U);
  EXPECT_EQ(science.ivar(1, 60), 0);
  EXPECT_EQ(science.mask(1, 60), kBadFiberFlat);
  EXPECT_EQ(science.ivar(1, 70), 0);
  EXPECT_EQ(science.mask(1, 70), kBadFiberFlat);
  EXPECT_TRUE(std::isfinite(science.flux(1, 70)));
  // Divided, all fibres show the lamp: the same within 1 %.
  EXPECT_NEAR(science.flux(2, 150) / science.flux(18, 150), 1, 0.05);
}

TEST(ApplyFiberFlat, LooksUpWhereTheSpectrographHadTheWavelength) {
  const Lamp truth = lamp(9);
  SerialExecutor serial;
  const FiberFlatFit flat = compute_fiber_flat(truth.spectra, 'r', {}, serial);
  Spectra science = truth.spectra;
  const double shift = 0.8 / 6128;  // one bin at bin 160
  apply_fiber_flat(science, flat, 1 + shift);
  EXPECT_NEAR(truth.spectra.flux(3, 160) / science.flux(3, 160), flat.flat(3, 159), 2e-4);
}

TEST(ApplyFiberFlat, RefusesAnotherGrid) {
  const Lamp truth = lamp(10);
  SerialExecutor serial;
  FiberFlatFit flat = compute_fiber_flat(truth.spectra, 'r', {}, serial);
  flat.wave[7] += 0.4;
  Spectra science = truth.spectra;
  EXPECT_EQ(loom::test::status_of([&] { apply_fiber_flat(science, flat); }), Status::kWrongShape);
}

}  // namespace
}  // namespace fiberloom::calibrate
