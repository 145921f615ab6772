// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/simulated_psf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

TEST(SimulatedPsf, HasBundlesOf25WithGapsBetweenThem) {
  const PsfModel psf = make_psf(camera_psf_options('r'));
  ASSERT_EQ(psf.nfiber(), 500);
  for (const double wave : {5760.0, 6690.0, 7620.0}) {
    for (std::size_t f = 1; f < 500; ++f) {
      const double distance = psf.x(f, wave) - psf.x(f - 1, wave);
      if (f % 25 == 0) {
        EXPECT_GT(distance, 17.0) << f;
        EXPECT_NE(psf.bundle[f], psf.bundle[f - 1]);
      } else {
        EXPECT_NEAR(distance, 7.27, 0.2) << f;
        EXPECT_EQ(psf.bundle[f], psf.bundle[f - 1]);
      }
    }
  }
}

TEST(SimulatedPsf, CoversTheGridOfItsCameraWithRoomForGuardBins) {
  for (const char band : {'b', 'r', 'z'}) {
    const PsfModel psf = make_psf(camera_psf_options(band));
    const std::vector<double> wave = camera_wave_grid(band);
    for (std::size_t f = 0; f < 500; ++f) {
      EXPECT_GT(psf.y(f, wave.front() - 40), 0.0) << band << f;
      EXPECT_LT(psf.y(f, wave.back() + 40), psf.npix_y - 1.0) << band << f;
      EXPECT_GT(psf.x(f, wave.front()), 8.0) << band << f;
      EXPECT_LT(psf.x(f, wave.back()), psf.npix_x - 9.0) << band << f;
      EXPECT_LT(psf.y(f, psf.y.wave_min), -5.0) << "the domain reaches past the CCD";
      EXPECT_GT(psf.y(f, psf.y.wave_max), psf.npix_y + 5.0);
    }
  }
}

TEST(SimulatedPsf, HasCurvedTracesAndASmile) {
  const PsfModel psf = make_psf(camera_psf_options('r'));
  const double bend = psf.x(0, 7750) - psf.x(0, 5650);
  EXPECT_GT(std::abs(bend), 7.0);
  EXPECT_LT(std::abs(bend), 15.0);
  const double smile = psf.y(0, 6690) - psf.y(250, 6690);
  EXPECT_GT(smile, 80.0);
  EXPECT_LT(smile, 130.0);
}

TEST(SimulatedPsf, HasTheGridsOfTheDesiPipeline) {
  EXPECT_EQ(camera_wave_grid('b').size(), 2751U);
  EXPECT_EQ(camera_wave_grid('r').size(), 2326U);
  EXPECT_EQ(camera_wave_grid('z').size(), 2881U);
  EXPECT_NEAR(camera_wave_grid('z').back(), 9824.0, 1e-9);
  EXPECT_THROW(static_cast<void>(camera_wave_grid('x')), Error);
}

TEST(SimulatedPsf, HasGh00OfOneAndSmallSmoothTerms) {
  const PsfModel psf = make_psf(camera_psf_options('z'));
  for (std::size_t f = 0; f < 500; f += 11) {
    for (double w = 7500; w < 9850; w += 50) {
      EXPECT_EQ(psf.gh[0](f, w), 1.0);
      for (std::size_t k = 1; k < psf.gh.size(); ++k) EXPECT_LT(std::abs(psf.gh[k](f, w)), 0.15);
      EXPECT_NEAR(psf.sigma_x(f, w), 1.1, 0.15);
      EXPECT_NEAR(psf.sigma_y(f, w), 1.1, 0.2);
    }
  }
}

TEST(SimulatedPsf, MakesNeighboursOverlapAsAsked) {
  SimulatedPsfOptions options = small_psf_options(5, 6000, 6100);
  options.gh_scale = 0;
  options.crosstalk = 0.05;
  const PsfModel psf = make_psf(options);
  const Spot a = spot_reference(psf, 2, 6050), b = spot_reference(psf, 3, 6050);
  double ab = 0, aa = 0, bb = 0;  // of the profiles along x
  for (int x = 0; x < psf.npix_x; ++x) {
    const auto column = [&](const Spot& s) {
      double v = 0;
      for (int r = 0; r < s.ny; ++r) {
        if (x >= s.x0 && x < s.x0 + s.nx) {
          v += s.value[static_cast<std::size_t>(r * s.nx + x - s.x0)];
        }
      }
      return v;
    };
    ab += column(a) * column(b);
    aa += column(a) * column(a);
    bb += column(b) * column(b);
  }
  EXPECT_NEAR(ab / std::sqrt(aa * bb), 0.05, 0.006);
}

TEST(SimulatedPsf, RefusesFibresThatDoNotFitOnTheCcd) {
  SimulatedPsfOptions options;
  options.npix_x = 1000;
  EXPECT_THROW(static_cast<void>(make_psf(options)), Error);
}

}  // namespace
}  // namespace fiberloom
