// SPDX-License-Identifier: BSD-3-Clause
// Skies whose truth is known.
#include "fiberloom/calibrate/sky.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "fiberloom/calibrate/test_fibers.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kFieldFibers = 60, kFieldSky = 20, kFieldBins = 300;

struct Field {
  Spectra spectra;
  Array2D<double> sky;  ///< [fibre][bin] without noise
};

struct FieldOptions {
  std::uint64_t seed = 1;
  double line_shift_aa = 0;  ///< rms over fibres of how far their lines lie off
};

/// Every third fibre sees sky alone, the others nothing but sky too: what a target's light adds is
/// not the sky's business. Faint continuum of 30 electrons, lines of up to 3000, read noise 10.
Field field(const FieldOptions& o) {
  const CounterRng rng(o.seed, 31);
  Field out;
  Spectra& s = out.spectra = test::blank_spectra(kFieldFibers, kFieldBins, 8000);
  out.sky = Array2D<double>(kFieldFibers, kFieldBins);
  std::vector<std::string> kind;
  for (std::size_t f = 0; f < kFieldFibers; ++f) {
    const double shift = o.line_shift_aa / 0.8 * rng.normal(f);
    std::vector<double> light(kFieldBins), seen(kFieldBins);
    for (std::size_t i = 0; i < kFieldBins; ++i) {
      light[i] = 30;
      for (const auto& [at, height] : {std::array{60.0, 3000.0}, {150.0, 800.0}, {230.0, 1500.0}}) {
        const double x = static_cast<double>(i) - at - shift;
        light[i] += height * std::exp(-0.5 * x * x / 0.25);
      }
    }
    test::set_resolution(s.resolution, f, 0.8 + 0.002 * static_cast<double>(f));
    multiply(banded(std::as_const(s.resolution), f), std::span<const double>(light),
             std::span<double>(seen));
    kind.emplace_back(f % 3 == 0 ? "SKY" : "TGT");
    for (std::size_t i = 0; i < kFieldBins; ++i) {
      const double variance = seen[i] + 100;
      out.sky(f, i) = seen[i];
      s.flux(f, i) = seen[i] + std::sqrt(variance) * rng.normal(1000 + f * kFieldBins + i);
      s.ivar(f, i) = 1 / variance;
    }
  }
  Table map;
  std::vector<std::int64_t> id(kFieldFibers);
  for (std::size_t f = 0; f < kFieldFibers; ++f) id[f] = 100 + static_cast<std::int64_t>(f);
  map.add("OBJTYPE", std::span<const std::string>(kind), 3);
  map.add("TARGETID", std::span<const std::int64_t>(id));
  s.fibermap = map;
  return out;
}

/// Mean and mean square of what is left of the targets' fibres, in units of its error.
std::array<double, 2> pulls_of_targets(const FieldOptions& o, const SkyOptions& options,
                                       std::size_t first, std::size_t last, int fields) {
  SerialExecutor serial;
  double sum = 0, squares = 0, count = 0;
  for (int k = 0; k < fields; ++k) {
    FieldOptions one = o;
    one.seed = o.seed + static_cast<std::uint64_t>(k);
    Spectra spectra = field(one).spectra;
    subtract_sky(spectra, compute_sky(spectra, 'z', options, serial), 'z');
    for (std::size_t f = 0; f < kFieldFibers; ++f) {
      for (std::size_t i = first; i < last && f % 3 != 0; ++i) {
        const double pull = spectra.flux(f, i) * std::sqrt(spectra.ivar(f, i));
        sum += pull, squares += pull * pull, ++count;
      }
    }
  }
  return {sum / count, squares / count};
}

TEST(Sky, IsTheTruthWithinItsErrors) {
  SerialExecutor serial;
  double squares = 0, count = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Field truth = field({.seed = seed});
    const SkyFit sky = compute_sky(truth.spectra, 'z', {}, serial);
    for (const std::size_t f : {28U, 30U, 32U}) {  // of the mean R, through which the error is seen
      for (std::size_t i = 10; i + 10 < kFieldBins; ++i) {
        const double error = sky.flux(f, i) - truth.sky(f, i);
        squares += error * error * sky.stat_ivar(f, i), ++count;
      }
    }
  }
  EXPECT_NEAR(squares / count, 1, 0.06);  // some 20 x 280 / 2 independent values
}

TEST(Sky, LeavesTargetsWithPullsOfWidthOne) {
  const auto [mean, square] = pulls_of_targets({}, {}, 80, 130, 20);  // continuum
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(std::sqrt(square), 1, 0.02);
  const auto [line_mean, line_square] = pulls_of_targets({}, {}, 56, 64, 20);
  EXPECT_NEAR(line_mean, 0, 0.1);
  EXPECT_NEAR(std::sqrt(line_square), 1, 0.1);
}

TEST(Sky, WidensTheErrorsOfLinesThatLieOff) {
  const auto [mean, square] = pulls_of_targets({.line_shift_aa = 0.05}, {}, 57, 64, 10);
  EXPECT_NEAR(mean, 0, 0.15);
  EXPECT_GT(square, 0.6);
  EXPECT_LT(square, 1.6);
  SerialExecutor serial;
  const SkyFit sky = compute_sky(field({.line_shift_aa = 0.05}).spectra, 'z', {}, serial);
  EXPECT_LT(sky.ivar(1, 61), 0.2 * sky.stat_ivar(1, 61)) << "the flank of a line";
  EXPECT_EQ(sky.ivar(1, 100), sky.stat_ivar(1, 100)) << "continuum";
}

TEST(Sky, DiscardsASkyFiberWithLightAndClipsCosmics) {
  Field truth = field({.seed = 3});
  for (std::size_t i = 0; i < kFieldBins; ++i) truth.spectra.flux(9, i) += 60;
  truth.spectra.flux(12, 200) += 500;
  truth.spectra.flux(15, 100) = std::numeric_limits<double>::quiet_NaN();
  SerialExecutor serial;
  const SkyFit sky = compute_sky(truth.spectra, 'z', {}, serial);
  EXPECT_EQ(sky.discarded, std::vector<std::size_t>{9});
  EXPECT_EQ(sky.mask(9, 5), kBadSky);
  EXPECT_EQ(sky.mask(12, 5), 0U);
  EXPECT_GE(sky.clipped, 1U);
  EXPECT_NEAR(sky.flux(1, 200), truth.sky(1, 200), 5 / std::sqrt(sky.stat_ivar(1, 200)));
  EXPECT_EQ(sky.fibers.size(), kFieldSky);
  EXPECT_EQ(sky.sky_targets[1], 103);
}

TEST(Sky, IsNoneWhereTooFewFibersSeeIt) {
  Field truth = field({.seed = 4});
  for (std::size_t f = 0; f < kFieldFibers; f += 3) {
    for (std::size_t i = 100; i < 103 && f < 33; ++i) truth.spectra.mask(f, i) = 1;  // 11 of 20
    for (std::size_t i = 200; i < 220; ++i) truth.spectra.ivar(f, i) = 0;            // all
  }
  SerialExecutor serial;
  const SkyFit sky = compute_sky(truth.spectra, 'z', {}, serial);
  for (std::size_t i = 99; i < 104; ++i) EXPECT_EQ(sky.ivar(30, i), 0) << i;
  EXPECT_GT(sky.ivar(30, 98), 0);
  EXPECT_GT(sky.ivar(30, 104), 0);
  for (std::size_t i = 199; i < 221; ++i) EXPECT_EQ(sky.mask(30, i), kBadSky) << i;
  EXPECT_EQ(sky.flux(30, 210), 0);
}

/// Mean of (sky - truth) / sigma of a pixel, in continuum, ivar as the noisy pixels show it.
double bias_of_sky(const SkyOptions& options) {
  SerialExecutor serial;
  double sum = 0, count = 0;
  for (std::uint64_t seed = 20; seed < 24; ++seed) {
    Field truth = field({.seed = seed});
    for (std::size_t k = 0; k < truth.sky.size(); ++k) {
      truth.spectra.ivar.data()[k] = 1 / (100 + std::max(0.0, truth.spectra.flux.data()[k]));
    }
    const SkyFit sky = compute_sky(truth.spectra, 'z', options, serial);
    for (std::size_t i = 80; i < 130; ++i) {
      sum += (sky.flux(30, i) - truth.sky(30, i)) / std::sqrt(100 + truth.sky(30, i)), ++count;
    }
  }
  return sum / count;
}

TEST(Sky, IsNotDrawnDownByPixelsWhoseNoiseChoseTheirWeight) {
  EXPECT_NEAR(bias_of_sky({}), 0, 0.04);
  EXPECT_LT(bias_of_sky(desispec_sky()), -0.05);
}

TEST(Sky, ALineIsJudgedByFibersThatHavePixelsThere) {
  Field truth = field({.seed = 5});
  for (std::size_t i = 50; i < 70; ++i) truth.spectra.ivar(0, i) = 0;  // the line at bin 60
  SerialExecutor serial;
  const SkyFit ours = compute_sky(truth.spectra, 'z', {}, serial);
  const SkyFit theirs = compute_sky(truth.spectra, 'z', desispec_sky(), serial);
  EXPECT_GT(ours.ivar(1, 61), 10 * theirs.ivar(1, 61));
  EXPECT_EQ(theirs.ivar(1, 61), theirs.ivar(50, 61)) << "one error for all fibres";
}

TEST(Sky, IsTheSameForAnyNumberOfThreads) {
  const Field truth = field({.seed = 6});
  SerialExecutor serial;
  TestThreads threads(3);
  const SkyFit a = compute_sky(truth.spectra, 'z', {}, serial);
  const SkyFit b = compute_sky(truth.spectra, 'z', {}, threads);
  EXPECT_TRUE(std::equal(a.flux.data(), a.flux.data() + a.flux.size(), b.flux.data()));
  EXPECT_TRUE(std::equal(a.ivar.data(), a.ivar.data() + a.ivar.size(), b.ivar.data()));
}

TEST(Sky, WantsSkyFibersWithLightAndNamesThem) {
  Field truth = field({.seed = 7});
  SerialExecutor serial;
  const auto status = [&](const Spectra& s) {
    return loom::test::status_of([&] { (void)compute_sky(s, 'z', {}, serial); });
  };
  Spectra nameless = truth.spectra;
  nameless.fibermap.reset();
  EXPECT_EQ(status(nameless), Status::kMissingKeyword);
  Spectra dark = truth.spectra;
  for (std::size_t i = 0; i < dark.ivar.size(); ++i) dark.ivar.data()[i] = 0;
  EXPECT_EQ(status(dark), Status::kNumerical);
  std::vector<std::int32_t> bits(kFieldFibers, kVariableThroughput);
  truth.spectra.fibermap->add("FIBERSTATUS", std::span<const std::int32_t>(bits));
  EXPECT_EQ(status(truth.spectra), Status::kNumerical);
}

TEST(SubtractSky, KeepsForbiddenFibersOut) {
  Field truth = field({.seed = 8});
  SerialExecutor serial;
  const SkyFit sky = compute_sky(truth.spectra, 'z', {}, serial);
  std::vector<std::int32_t> bits(kFieldFibers, 0);
  bits[4] = kBadAmpZ;
  bits[5] = kBadAmpB;
  truth.spectra.fibermap->add("FIBERSTATUS", std::span<const std::int32_t>(bits));
  subtract_sky(truth.spectra, sky, 'z');
  EXPECT_EQ(truth.spectra.ivar(4, 50), 0);
  EXPECT_EQ(truth.spectra.mask(4, 50), kBadFiber);
  EXPECT_GT(truth.spectra.ivar(5, 50), 0);
}

TEST(SubtractSky, ASkyThatIsNoNumberLeavesNoLight) {
  Field truth = field({.seed = 8});
  SerialExecutor serial;
  SkyFit sky = compute_sky(truth.spectra, 'z', {}, serial);
  sky.flux(4, 50) = NAN;
  subtract_sky(truth.spectra, sky, 'z');
  EXPECT_EQ(truth.spectra.flux(4, 50), 0);
  EXPECT_EQ(truth.spectra.ivar(4, 50), 0);
  EXPECT_EQ(truth.spectra.mask(4, 50), kBadSky);
  EXPECT_TRUE(std::isfinite(truth.spectra.flux(4, 10)));
  EXPECT_GT(truth.spectra.ivar(4, 10), 0);
}

}  // namespace
}  // namespace fiberloom::calibrate
