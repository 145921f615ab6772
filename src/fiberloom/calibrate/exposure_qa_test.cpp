// SPDX-License-Identifier: BSD-3-Clause
// The quality of exposures whose faults are known.
#include "fiberloom/calibrate/exposure_qa.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/calibrate/usable.hpp"
#include "loom/base/rng.hpp"
#include "loom/base/test_status.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kQaFibers = 10, kQaBins = 2000;
constexpr double kSigma = 0.5, kStepAa = 0.8;

/// Fibres of one camera: every second sees sky alone, noise of `sigma`, the others a flux of 3.
Spectra camera_of_noise(double first_aa, double sigma, std::uint64_t seed) {
  Spectra out;
  for (std::size_t i = 0; i < kQaBins; ++i)
    out.wave.push_back(first_aa + kStepAa * static_cast<double>(i));
  out.flux = Array2D<double>(kQaFibers, kQaBins);
  out.ivar = Array2D<double>(kQaFibers, kQaBins, 1 / (kSigma * kSigma));
  out.mask = Array2D<std::uint32_t>(kQaFibers, kQaBins, 0U);
  const CounterRng rng(seed, 31);
  for (std::size_t f = 0; f < kQaFibers; ++f) {
    for (std::size_t i = 0; i < kQaBins; ++i) {
      out.flux(f, i) = (f % 2 == 0 ? 0 : 3) + sigma * rng.normal(f * kQaBins + i);
    }
  }
  std::vector<std::string> kinds;
  for (std::size_t f = 0; f < kQaFibers; ++f) kinds.emplace_back(f % 2 == 0 ? "SKY" : "TGT");
  const std::vector<std::int32_t> status(kQaFibers, 0);
  out.fibermap.emplace().add("OBJTYPE", std::span<const std::string>(kinds), 3);
  out.fibermap->add("FIBERSTATUS", std::span<const std::int32_t>(status));
  return out;
}

void put_positions(Spectra& frame, const std::vector<double>& x) {
  const std::vector<double> y(x.size(), 0.0);
  frame.fibermap->add("DELTA_X", std::span<const double>(x));
  frame.fibermap->add("DELTA_Y", std::span<const double>(y));
}

TEST(ExposureQa, MeasuresSignalSkyAndThroughput) {
  const Spectra blue = camera_of_noise(3600, kSigma, 1), red = camera_of_noise(5800, 2 * kSigma, 2);
  FluxCalibration flux;
  flux.calib = Array2D<double>(kQaFibers, kQaBins, 40.0);
  for (std::size_t i = 0; i < kQaBins; ++i) flux.calib(3, i) = 4;  // far from its target
  SkyModel sky;
  sky.throughput = {1, 1.01, 0.98, 1.02, 0.99, 1, 1.01, 0.97, 1.02, 1};
  const ExposureQa qa = exposure_qa(
      std::vector<QaCamera>{{'b', &blue, &sky, &flux}, {'r', &red, nullptr, nullptr}}, nullptr, {});
  ASSERT_EQ(qa.cameras.size(), 2U);
  EXPECT_NEAR(qa.cameras[0].median_snr, 3 / kSigma / std::sqrt(kStepAa), 0.1);
  EXPECT_NEAR(qa.cameras[0].snr[0], 0, 0.1);
  EXPECT_EQ(qa.cameras[0].sky_fibers, 5U);
  EXPECT_NEAR(qa.cameras[0].sky_width, 1, 0.03);
  EXPECT_NEAR(qa.cameras[0].sky_mean, 0, 0.03);
  EXPECT_NEAR(qa.cameras[0].sky_chi2_per_dof, 5.0 / 4, 0.06) << "it gives the sky a number a bin";
  EXPECT_NEAR(qa.cameras[1].sky_width, 2, 0.06);
  EXPECT_NEAR(qa.cameras[0].sky_throughput_rms, 1.48 * 0.01, 1e-9);
  EXPECT_EQ(qa.cameras[0].throughput, 40);
  EXPECT_EQ(qa.cameras[1].throughput, 0);
  EXPECT_EQ(qa.good_fibers, kQaFibers);
}

TEST(ExposureQa, SaysWhichFibersAreNotToBeUsed) {
  Spectra blue = camera_of_noise(3600, kSigma, 3);
  put_positions(blue, {0.01, 0.02, std::nan(""), 0.05, 0, 0, 0, 0, 0, 0});
  const ExposureQa qa = exposure_qa(std::vector<QaCamera>{{'b', &blue}}, nullptr, {});
  EXPECT_EQ(qa.status[2], static_cast<std::uint32_t>(kMissingPosition));
  EXPECT_EQ(qa.status[3], static_cast<std::uint32_t>(kPoorPosition));
  EXPECT_EQ(qa.good_positions, 8U);
  EXPECT_EQ(qa.good_fibers, 8U);
  EXPECT_EQ(qa.cameras[0].sky_fibers, 4U) << "one is missing";
  Spectra far = camera_of_noise(3600, kSigma, 3);
  put_positions(far, {1, 1, 1, 1, 1, 1, 1, 0, 0, 0});
  EXPECT_EQ(exposure_qa(std::vector<QaCamera>{{'b', &far}}, nullptr, {}).good_fibers, 0U)
      << "seven of ten: not one of the petal is to be used";
}

TEST(ExposureQa, ComparesStarsWithTheirModels) {
  Spectra red = camera_of_noise(5800, 0.001, 4);
  std::vector<double> wave, flux;
  for (double w = 5700; w < 7900; w += 2) wave.push_back(w), flux.push_back(3);
  for (const std::size_t row : {1U, 3U, 5U}) {
    for (std::size_t i = 0; i < kQaBins; ++i) red.flux(row, i) *= row == 1 ? 1.1 : 1;
  }
  QaStars stars{wave, {{1, flux}, {3, flux}, {5, flux}}};
  const std::vector<QaCamera> cameras{{'r', &red}};
  const ExposureQa qa = exposure_qa(cameras, &stars, {});
  EXPECT_EQ(qa.stars, 3U);
  EXPECT_NEAR(qa.star_rms, 0.1 / std::sqrt(3.0) * std::sqrt(1.5), 1e-4);
  EXPECT_EQ(qa.good_fibers, kQaFibers) << "below 0.2";
  stars.stars.pop_back();
  EXPECT_EQ(exposure_qa(cameras, &stars, {}).good_fibers, 0U) << "of two it is to be below 0.05";
  stars.stars.clear();
  EXPECT_EQ(exposure_qa(cameras, &stars, {}).good_fibers, 0U);
}

TEST(ExposureQa, WantsCamerasOfTheSameFibers) {
  const Spectra blue = camera_of_noise(3600, kSigma, 5);
  Spectra few = camera_of_noise(5800, kSigma, 6);
  few.flux = Array2D<double>(kQaFibers - 1, kQaBins, 0.0);
  EXPECT_EQ(loom::test::status_of([&] {
              (void)exposure_qa(std::vector<QaCamera>{{'b', &blue}, {'r', &few}}, nullptr, {});
            }),
            Status::kWrongShape);
}

}  // namespace
}  // namespace fiberloom::calibrate
