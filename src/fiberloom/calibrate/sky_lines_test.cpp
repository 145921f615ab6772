// SPDX-License-Identifier: BSD-3-Clause
// Lines that lie off and are wider, by known amounts that vary slowly over fibres and wavelength.
#include "fiberloom/calibrate/sky_lines.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "fiberloom/calibrate/test_fibers.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kLineFibers = 60, kLineBins = 400;
constexpr double kStep = 0.8, kFirst = 8000;

double shift_of(std::size_t f, std::size_t i) {
  return 0.06 * std::cos(3.0 * static_cast<double>(f) / kLineFibers) +
         0.03 * static_cast<double>(i) / kLineBins;
}
/// dS/dwidth is of a Gaussian of 0.3 Angstrom: variances add, so that half of it is this times 0.3.
double width_of(std::size_t f) {
  return 0.08 * std::sin(4.0 * static_cast<double>(f) / kLineFibers);
}

struct LineField {
  Spectra spectra;
  Array2D<double> sky;
};

/// Sky in every third fibre and in the others; lines of 500 to 5000 electrons on 30, read noise 3.
LineField line_field(double scale, std::uint64_t seed) {
  const CounterRng rng(seed, 17);
  LineField out;
  Spectra& s = out.spectra = test::blank_spectra(kLineFibers, kLineBins, kFirst);
  out.sky = Array2D<double>(kLineFibers, kLineBins);
  std::vector<std::string> kind;
  for (std::size_t f = 0; f < kLineFibers; ++f) {
    test::set_resolution(s.resolution, f, 0.9);
    kind.emplace_back(f % 3 == 0 ? "SKY" : "TGT");
    // what the fibre shows: lines moved, their variance more by 0.3 x width
    std::vector<double> light(kLineBins, 30.0), seen(kLineBins);
    for (std::size_t k = 0; k < 9; ++k) {
      const double at = 30 + 42 * static_cast<double>(k), height = k % 2 == 0 ? 5000 : 1200;
      const auto near = static_cast<std::size_t>(at);
      const double sigma2 = 0.25 + scale * 0.6 * width_of(f) / (kStep * kStep);
      for (std::size_t i = 0; i < kLineBins; ++i) {
        const double x = static_cast<double>(i) - at + scale * shift_of(f, near) / kStep;
        light[i] += height * std::sqrt(0.25 / sigma2) * std::exp(-0.5 * x * x / sigma2);
      }
    }
    multiply(banded(std::as_const(s.resolution), f), std::span<const double>(light),
             std::span<double>(seen));
    for (std::size_t i = 0; i < kLineBins; ++i) {
      const double variance = seen[i] + 9;
      out.sky(f, i) = seen[i];
      s.flux(f, i) = seen[i] + std::sqrt(variance) * rng.normal(1000 + f * kLineBins + i);
      s.ivar(f, i) = 1 / variance;
    }
  }
  Table map;
  map.add("OBJTYPE", std::span<const std::string>(kind), 3);
  s.fibermap = map;
  return out;
}

/// Mean square of (sky - truth) / error of a pixel near lines, of the fibres that are no sky
/// fibres.
double off_near_lines(const LineField& field, const SkyFit& sky) {
  double squares = 0, count = 0;
  for (std::size_t f = 0; f < kLineFibers; ++f) {
    for (std::size_t i = 20; i + 20 < kLineBins && f % 3 != 0; ++i) {
      if (field.sky(f, i) < 300) continue;
      const double off = sky.flux(f, i) - field.sky(f, i);
      squares += off * off * field.spectra.ivar(f, i), ++count;
    }
  }
  return squares / count;
}

TEST(SkyLines, AreMovedAndWidenedAsTheSkyFibresShow) {
  SerialExecutor serial;
  const LineField one = line_field(1, 3);
  const SkyFit as_all = compute_sky(one.spectra, 'z', {}, serial);
  SkyOptions moved;
  moved.adjust_wavelength = true;
  const SkyFit shifted = compute_sky(one.spectra, 'z', moved, serial);
  SkyOptions both = moved;
  both.adjust_lsf = true;
  const SkyFit adjusted = compute_sky(one.spectra, 'z', both, serial);
  const double before = off_near_lines(one, as_all), after_shift = off_near_lines(one, shifted),
               after = off_near_lines(one, adjusted);
  EXPECT_GT(before, 2);
  EXPECT_LT(after_shift, before / 2);
  EXPECT_LT(after, after_shift);
  EXPECT_LT(after, before / 5) << before << " " << after_shift;
  EXPECT_TRUE(as_all.adjustment.shift.empty());
  double error = 0;
  // the sky that all have lies where the sky fibres' lines are on average
  double middle = 0;
  for (std::size_t f = 0; f < kLineFibers; f += 3) middle += shift_of(f, 200) / 20;
  for (std::size_t f = 1; f < kLineFibers; f += 3) {
    error =
        std::max(error, std::abs(adjusted.adjustment.shift(f, 198) - shift_of(f, 198) + middle));
  }
  EXPECT_LT(error, 0.02);
  EXPECT_GE(adjusted.adjustment.peaks, 100U);  // the brighter ones of 20 fibres
}

TEST(SkyLines, HaveSmallerErrorsOnceTheyAreAdjusted) {
  SerialExecutor serial;
  const LineField one = line_field(1, 4);
  SkyOptions options;
  const SkyFit wide = compute_sky(one.spectra, 'z', options, serial);
  options.adjust_wavelength = options.adjust_lsf = true;
  const SkyFit adjusted = compute_sky(one.spectra, 'z', options, serial);
  options.extra_variance = false;
  const SkyFit bare = compute_sky(one.spectra, 'z', options, serial);
  EXPECT_GT(adjusted.ivar(1, 199), 2 * wide.ivar(1, 199)) << "the flank of a line";
  EXPECT_EQ(bare.ivar(1, 199), bare.stat_ivar(1, 199));
}

TEST(SkyLines, ThatLieWhereTheyShouldGainLittleNoise) {
  SerialExecutor serial;
  const LineField one = line_field(0, 5);
  SkyOptions both;
  both.adjust_wavelength = both.adjust_lsf = true;
  EXPECT_LT(off_near_lines(one, compute_sky(one.spectra, 'z', both, serial)), 0.5);
}

TEST(SkyLines, OfAFibreThatShowsNoneAreTakenFromItsNeighboursOrStay) {
  SerialExecutor serial;
  LineField one = line_field(1, 6);
  for (std::size_t i = 0; i < kLineBins; ++i) {
    if ((i + 42 - 24) % 42 < 13) one.spectra.ivar(30, i) = 0;  // six bins on either side of a line
  }
  SkyOptions options;
  options.adjust_wavelength = true;
  const SkyFit ours = compute_sky(one.spectra, 'z', options, serial);
  const double between = 0.5 * (ours.adjustment.shift(27, 200) + ours.adjustment.shift(33, 200));
  EXPECT_NEAR(ours.adjustment.shift(30, 200), between, 1e-12);
  SkyOptions desispec = desispec_sky();
  desispec.adjust_wavelength = true;
  EXPECT_EQ(compute_sky(one.spectra, 'z', desispec, serial).adjustment.shift(30, 200), 0);
}

TEST(SkyLines, OfAGridTooShortForOneStayAsTheyAre) {
  SerialExecutor serial;
  for (const std::size_t bins : {1U, 15U}) {
    Spectra few;
    few.flux = Array2D<double>(6, bins, 40.0);
    few.ivar = Array2D<double>(6, bins, 1.0);
    few.resolution = Array3D<float>(6, 1, bins, 1.0F);
    for (std::size_t i = 0; i < bins; ++i) few.wave.push_back(kFirst + static_cast<double>(i));
    Table map;
    map.add("OBJTYPE", std::span<const std::string>(std::vector<std::string>(6, "SKY")), 3);
    few.fibermap = map;
    SkyOptions options = desispec_sky();
    options.adjust_wavelength = options.adjust_lsf = true;
    const SkyFit sky = compute_sky(few, 'z', options, serial);
    EXPECT_EQ(sky.adjustment.peaks, 0U);
    EXPECT_NEAR(sky.flux(0, 0), 40, 1e-9);
  }
}

TEST(SkyLines, AreTheSameForAnyNumberOfThreads) {
  SerialExecutor serial;
  TestThreads threads(3);
  const LineField one = line_field(1, 7);
  SkyOptions both;
  both.adjust_wavelength = both.adjust_lsf = true;
  const SkyFit a = compute_sky(one.spectra, 'z', both, serial),
               b = compute_sky(one.spectra, 'z', both, threads);
  for (std::size_t f = 0; f < kLineFibers; ++f) {
    for (std::size_t i = 0; i < kLineBins; ++i) ASSERT_EQ(a.flux(f, i), b.flux(f, i));
  }
}

}  // namespace
}  // namespace fiberloom::calibrate
