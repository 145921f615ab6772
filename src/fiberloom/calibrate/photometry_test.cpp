// SPDX-License-Identifier: BSD-3-Clause
// Magnitudes against integrals on paper, dust against the field's own functions.
#include "fiberloom/calibrate/photometry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "loom/base/test_status.hpp"

namespace fiberloom::calibrate {
namespace {

std::vector<double> grid(double first, double step, std::size_t n) {
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(first + step * static_cast<double>(i));
  return out;
}

/// A flux of AB magnitude 0 times `factor`, 1e-17 erg/(s cm2 Angstrom).
std::vector<double> of_zero(const std::vector<double>& wave, double factor) {
  std::vector<double> out;
  for (const double w : wave) out.push_back(factor * 3631e-23 * 2.99792458e18 * 1e17 / (w * w));
  return out;
}

const Passband& triangle() {
  static const Passband one = [] {
    Passband out{grid(5000, 20, 51), {}};
    for (const double w : out.wave) out.response.push_back(0.9 - 0.9 * std::abs(w - 5500) / 500);
    return out;
  }();
  return one;
}

TEST(BandIntegral, OfAnAbSpectrumIsItsMagnitude) {
  for (const double step : {0.37, 4.0, 60.0}) {
    const std::vector<double> wave = grid(4000, step, static_cast<std::size_t>(2500 / step));
    const BandIntegral band(wave, triangle());
    const double coarse = 6e-8 * step * step + 1e-4;  // trapezoids of the photons on either grid
    EXPECT_NEAR(band.magnitude(of_zero(wave, 1).data()), 0, coarse) << step;
    EXPECT_NEAR(band.magnitude(of_zero(wave, 100).data()) + 5,
                band.magnitude(of_zero(wave, 1).data()), 1e-12);
  }
}

TEST(BandIntegral, CountsNoLightBeyondTheBand) {
  const std::vector<double> wave = grid(4000, 10, 300);
  std::vector<double> flux = of_zero(wave, 1);
  const BandIntegral band(wave, triangle());
  const double before = band.magnitude(flux.data());
  for (std::size_t i = 0; i < wave.size(); ++i) {
    if (wave[i] < 5000 || wave[i] > 6000) flux[i] = 1e9;
  }
  EXPECT_EQ(band.magnitude(flux.data()), before);
}

TEST(BandIntegral, WantsAGridThatReachesOverTheBand) {
  for (const double first : {5001.0, 3000.0}) {
    EXPECT_EQ(loom::test::status_of([&] { (void)BandIntegral(grid(first, 10, 150), triangle()); }),
              Status::kWrongShape);
  }
}

TEST(DustTransmission, IsTheFieldsCurve) {  // as desiutil 4.0.1 gives it
  constexpr std::array kWave{2300.0, 3600.0, 5000.0, 7000.0, 9800.0};
  constexpr std::array kLeft{0.2450160936260791, 0.4597478298197572, 0.5688940468958104,
                             0.707413612150182, 0.8217331162546976};
  const std::vector<double> out = dust_transmission(kWave, 0.2);
  for (std::size_t i = 0; i < kWave.size(); ++i) EXPECT_NEAR(out[i], kLeft[i], 1e-14);
  EXPECT_EQ(dust_transmission(kWave, 0.0), std::vector<double>(kWave.size(), 1.0));
}

TEST(GaiaExtinction, IsTheFieldsForAStarOfThisColour) {  // as desiutil 4.0.1 gives it
  const GaiaMagnitudes out = gaia_extinction({16.2, 16.5, 15.7}, 0.08);
  EXPECT_NEAR(out.g, 0.1821444634702658, 1e-13);
  EXPECT_NEAR(out.bp, 0.22957344145127223, 1e-13);
  EXPECT_NEAR(out.rp, 0.1269297442426982, 1e-13);
  EXPECT_EQ(gaia_extinction({16.2, 16.5, 15.7}, 0).g, 0);
}

TEST(PhotometricSystem, IsNamedByPhotsys) {
  EXPECT_EQ(photometric_system("N"), PhotometricSystem::kNorth);
  EXPECT_EQ(photometric_system("G"), PhotometricSystem::kGaia);
  EXPECT_EQ(photometric_system(""), PhotometricSystem::kSouth);
  EXPECT_STREQ(bands_of(PhotometricSystem::kNorth)[2].file, "MzLS-z");
}

}  // namespace
}  // namespace fiberloom::calibrate
