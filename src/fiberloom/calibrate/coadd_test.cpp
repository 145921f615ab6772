// SPDX-License-Identifier: BSD-3-Clause
// Sums of spectra whose truth is known.
#include "fiberloom/calibrate/coadd.hpp"

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

constexpr std::size_t kSumBins = 200;

/// `nspec` spectra of the same light from `first` on, R of each a little wider, S/N about 10.
struct SameLight {
  Spectra spectra;
  std::vector<double> light;
};

std::vector<double> light_from(std::size_t first, std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(first + i);
    out[i] = 20 + 5 * std::sin(0.05 * x) + ((first + i) % 40 == 20 ? 30 : 0);
  }
  return out;
}

SameLight same_light(std::size_t nspec, std::uint64_t seed, std::size_t first = 0,
                     double noise = 1) {
  const CounterRng rng(seed, 91);
  SameLight out;
  Spectra& s = out.spectra;
  out.light = light_from(first, kSumBins);
  for (std::size_t i = 0; i < kSumBins; ++i) {
    s.wave.push_back(5000 + 0.8 * static_cast<double>(first + i));
  }
  s.flux = s.ivar = Array2D<double>(nspec, kSumBins, 0.0);
  s.mask = Array2D<std::uint32_t>(nspec, kSumBins, 0U);
  s.resolution = Array3D<float>(nspec, 11, kSumBins);
  for (std::size_t e = 0; e < nspec; ++e) {
    test::set_resolution(s.resolution, e, 0.8 + 0.05 * static_cast<double>(e));
    std::vector<double> seen(kSumBins);
    multiply(banded(std::as_const(s.resolution), e), std::span<const double>(out.light),
             std::span<double>(seen));
    for (std::size_t i = 0; i < kSumBins; ++i) {
      const double sigma = 2 + 0.3 * static_cast<double>(e);
      s.ivar(e, i) = 1 / (sigma * sigma);
      s.flux(e, i) = seen[i] + noise * sigma * rng.normal(e * kSumBins + i);
    }
  }
  return out;
}

const std::vector<std::vector<std::size_t>> kFour{{0, 1, 2, 3}};

/// Largest |flux - R light| of spectra without noise.
double largest_off(const Spectra& s, const std::vector<double>& light) {
  double most = 0;
  std::vector<double> seen(s.nwave());
  for (std::size_t t = 0; t < s.nspec(); ++t) {
    multiply(banded(s.resolution, t), std::span<const double>(light), std::span<double>(seen));
    for (std::size_t i = 0; i < s.nwave(); ++i) {
      if (s.ivar(t, i) > 0) most = std::max(most, std::abs(s.flux(t, i) - seen[i]));
    }
  }
  return most;
}

TEST(CoaddExposures, IsWhatItsResolutionMakesOfTheLight) {
  SameLight s = same_light(4, 1, 0, 0);
  for (std::size_t i = 0; i < kSumBins; i += 3) s.spectra.mask(1, i) = 1;  // weights that jump
  for (std::size_t i = 50; i < 60; ++i) s.spectra.ivar(2, i) = 0;
  SerialExecutor serial;
  const Coadd sum = coadd_exposures(s.spectra, kFour, 'b', {}, serial);
  EXPECT_LT(largest_off(sum, s.light), 1e-4) << "float32 of R";
  EXPECT_EQ(sum.exposures[0], 4U);
  EXPECT_EQ(sum.cosmics, 0U);
}

TEST(CoaddExposures, HasPullsOfWidthOne) {
  SerialExecutor serial;
  double squares = 0, count = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SameLight s = same_light(4, seed);
    const Coadd sum = coadd_exposures(s.spectra, kFour, 'b', {}, serial);
    std::vector<double> seen(kSumBins);
    multiply(banded(sum.resolution, 0), std::span<const double>(s.light), std::span<double>(seen));
    for (std::size_t i = 0; i < kSumBins; ++i) {
      squares += std::pow(sum.flux(0, i) - seen[i], 2) * sum.ivar(0, i), ++count;
    }
  }
  EXPECT_NEAR(squares / count, 1, 0.06);
}

TEST(CoaddExposures, LeavesOutCosmicsButNotWhatVaries) {
  SerialExecutor serial;
  SameLight s = same_light(4, 3);
  s.spectra.flux(2, 100) += 60;
  const Coadd sum = coadd_exposures(s.spectra, kFour, 'b', {}, serial);
  EXPECT_GE(sum.cosmics, 2U);
  EXPECT_LE(sum.cosmics, 4U);
  const Coadd with = coadd_exposures(s.spectra, kFour, 'b', {.cosmic_nsig = 0}, serial);
  EXPECT_EQ(with.cosmics, 0U);
  EXPECT_GT(with.flux(0, 100), sum.flux(0, 100) + 5);
  EXPECT_LT(sum.ivar(0, 100), with.ivar(0, 100));
  SameLight other = same_light(4, 4);
  for (std::size_t i = 0; i < kSumBins; ++i) {  // another spectrum each time
    for (std::size_t e = 0; e < 4; ++e) {
      other.spectra.flux(e, i) += 20 * std::sin(static_cast<double>((e + 1) * i));
    }
  }
  EXPECT_LT(coadd_exposures(other.spectra, kFour, 'b', {}, serial).cosmics, 40U);
  const std::vector<std::vector<std::size_t>> two{{1, 2}};
  EXPECT_EQ(coadd_exposures(s.spectra, two, 'b', {}, serial).cosmics, 0U) << "of two: which?";
}

TEST(CoaddExposures, TakesMaskedPixelsWhereThereIsNothingElseAndSaysSo) {
  SameLight s = same_light(3, 5);
  for (std::size_t e = 0; e < 3; ++e) s.spectra.mask(e, 70) = 1U << e;
  s.spectra.flux(1, 80) = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::int32_t> status{0, 0, kBadAmpB};
  Table map;
  map.add("FIBERSTATUS", std::span<const std::int32_t>(status));
  s.spectra.fibermap = map;
  SerialExecutor serial;
  const std::vector<std::vector<std::size_t>> targets{{0, 1, 2}, {2}, {}};
  const Coadd b = coadd_exposures(s.spectra, targets, 'b', {}, serial);
  EXPECT_EQ(b.exposures, (std::vector<std::size_t>{2, 0, 0}));
  EXPECT_EQ(b.mask(0, 70), 3U);
  EXPECT_GT(b.ivar(0, 70), 0);
  EXPECT_EQ(b.mask(0, 71), 0U);
  EXPECT_EQ(b.flux(0, 80), s.spectra.flux(0, 80));
  EXPECT_EQ(b.ivar(1, 70) + b.ivar(2, 70), 0);
  EXPECT_EQ(coadd_exposures(s.spectra, targets, 'r', {}, serial).exposures[0], 3U);
}

TEST(CoaddExposures, IsTheSameForAnyNumberOfThreadsAndRefusesRowsThatAreNotThere) {
  const SameLight s = same_light(6, 6);
  const std::vector<std::vector<std::size_t>> targets{{0, 3}, {1, 2, 4, 5}, {5}};
  SerialExecutor serial;
  TestThreads threads(3);
  const Coadd a = coadd_exposures(s.spectra, targets, 'b', {}, serial),
              b = coadd_exposures(s.spectra, targets, 'b', {}, threads);
  EXPECT_TRUE(std::equal(a.flux.data(), a.flux.data() + a.flux.size(), b.flux.data()));
  const std::vector<std::vector<std::size_t>> wrong{{6}};
  EXPECT_EQ(
      loom::test::status_of([&] { (void)coadd_exposures(s.spectra, wrong, 'b', {}, serial); }),
      Status::kWrongShape);
}

TEST(CoaddCameras, IsWhatItsResolutionMakesOfTheLightAtTheSeamsToo) {
  std::vector<Spectra> cameras;
  for (const std::size_t first : {160U, 0U, 400U}) {  // the second begins; a gap before the third
    SameLight s = same_light(2, 7, first, 0);
    // what a camera sees comes from bins of its own: the joint light is 0 there for the others
    cameras.push_back(s.spectra);
  }
  cameras[0].ivar(1, 5) = 0;
  cameras[0].mask(1, 5) = 8;
  cameras[0].ivar(1, 100) = 0;
  cameras[0].mask(1, 100) = 8;
  const Spectra sum = coadd_cameras(cameras);
  ASSERT_EQ(sum.nwave(), 560U);
  std::vector<double> light = light_from(0, 360);
  const std::vector<double> last = light_from(400, 200);
  light.insert(light.end(), last.begin(), last.end());
  EXPECT_LT(largest_off(sum, light), 1e-4);
  EXPECT_EQ(sum.mask(1, 165), 0U) << "the other camera saw it";
  EXPECT_EQ(sum.mask(1, 260), 8U);
  EXPECT_EQ(sum.ivar(1, 165), cameras[1].ivar(1, 165)) << "of the other camera alone";
  EXPECT_EQ(sum.ivar(0, 170), cameras[0].ivar(0, 10) + cameras[1].ivar(0, 170));
}

TEST(CoaddCameras, KeepTheMaskOfWhatIsMaskedInAll) {
  // a pixel that is masked in all exposures is summed all the same, with its mask: so it stays
  std::vector<Spectra> cameras{same_light(1, 8, 160).spectra, same_light(1, 8).spectra};
  cameras[0].mask(0, 5) = 8, cameras[1].mask(0, 165) = 16;  // the same bin
  cameras[1].mask(0, 20) = 4;                               // nobody else sees it
  const Spectra sum = coadd_cameras(cameras);
  EXPECT_EQ(sum.mask(0, 165), 24U);
  EXPECT_EQ(sum.ivar(0, 165), cameras[0].ivar(0, 5) + cameras[1].ivar(0, 165));
  EXPECT_EQ(sum.mask(0, 20), 4U);
  EXPECT_EQ(sum.ivar(0, 20), cameras[1].ivar(0, 20));
  EXPECT_EQ(sum.mask(0, 21), 0U);
}

TEST(CoaddCameras, WantAlignedGridsAndTheSameSpectra) {
  std::vector<Spectra> cameras{same_light(2, 8).spectra, same_light(2, 8, 150).spectra};
  for (double& w : cameras[1].wave) w += 0.1;
  EXPECT_EQ(loom::test::status_of([&] { (void)coadd_cameras(cameras); }), Status::kWrongShape);
  cameras[1] = same_light(3, 8, 150).spectra;
  EXPECT_EQ(loom::test::status_of([&] { (void)coadd_cameras(cameras); }), Status::kWrongShape);
}

}  // namespace
}  // namespace fiberloom::calibrate
