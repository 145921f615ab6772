// SPDX-License-Identifier: BSD-3-Clause
// Depth on paper, where everything is flat. (All of it on a camera, against formulas of their own:
// tests/fiberloom/cli/test_depth.py.)
#include "fiberloom/calibrate/template_snr.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loom/base/test_status.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kFourFibers = 4, kFortyBins = 40;
constexpr double kBinWidth = 0.8, kReadNoise = 3, kAreaPixels = 3.5, kPixelStep = 0.6,
                 kSkyLight = 20, kFlatField = 0.9, kElectrons = 8;

/// A camera whose two last fibres see the sky; its errors are those of the model with the read
/// noise's variance times `scale`.
struct FlatCamera {
  Spectra raw, calibrated;
  FiberFlat flat;
  SkyModel sky;
  FluxCalibration flux;
  Array2D<double> noise{kFourFibers, kFortyBins, kReadNoise};
  NoiseArea area;
  std::vector<std::size_t> rows{0, 1, 0, 1};
  FocalPlane plane;
  static double read(double scale = 1) {
    return scale * kReadNoise * kReadNoise * kAreaPixels * (kBinWidth / kPixelStep) /
           (kBinWidth * kBinWidth);
  }
  explicit FlatCamera(double scale = 1, double first = 6100) {
    for (std::size_t i = 0; i < kFortyBins; ++i)
      raw.wave.push_back(first + kBinWidth * static_cast<double>(i));
    const auto all = [](double value) { return Array2D<double>(kFourFibers, kFortyBins, value); };
    raw.flux = all(1);
    raw.ivar = all(1 / (read(scale) + kFlatField * kSkyLight));
    raw.mask = Array2D<std::uint32_t>(kFourFibers, kFortyBins, 0U);
    Table map;
    const std::vector<std::string> kinds{"TGT", "TGT", "SKY", "SKY"};
    map.add("OBJTYPE", std::span<const std::string>(kinds), 3);
    raw.fibermap = map;
    calibrated = raw;
    flat.flat = all(kFlatField);
    sky.flux = all(-kSkyLight), sky.ivar = all(1);  // its size counts
    flux.calib = all(kElectrons);
    area.wave = {first - 10, first + 20, first + 30, first + 60};
    area.pixels = Array2D<double>(2, 4, kAreaPixels);
    area.aa_per_pixel = Array2D<double>(2, 4, kPixelStep);
  }
  [[nodiscard]] Depth depth(const std::vector<SnrTemplate>& templates) const {
    return depth_of({raw, calibrated, flat, sky, flux, noise, area, rows, plane, usual_shares()},
                    templates);
  }
  [[nodiscard]] SnrTemplate light(const char* kind, double value) const {
    return {kind, raw.wave, std::vector<double>(kFortyBins, value)};
  }
};

TEST(Depth, IsSignalOverNoiseSquaredSummedOverBins) {
  const FlatCamera camera;
  const Depth depth = camera.depth({camera.light("elg", 0.1)});
  EXPECT_NEAR(depth.read_noise_scale, 1, 1e-6);
  EXPECT_FALSE(depth.scale_was_raised);
  const double signal = 0.1 * kElectrons * kFlatField,
               variance = FlatCamera::read() + kFlatField * kSkyLight;
  for (const double one : depth.snr2.at("elg"))
    EXPECT_NEAR(one, kFortyBins * signal * signal / variance, 1e-5 * one);
}

TEST(Depth, TakesTheReadNoiseThatSkyFibersShow) {
  for (const double scale : {0.9, 1.3, 2.5, 40.0}) {
    const Depth depth = FlatCamera(scale).depth({});
    EXPECT_NEAR(depth.read_noise_scale, scale, 1e-5 * scale);
  }
  const Depth low = FlatCamera(0.5).depth({});
  EXPECT_EQ(low.read_noise_scale, 0.8);
  EXPECT_TRUE(low.scale_was_raised);
}

TEST(Depth, LooksForReadNoiseWhereNothingElseIs) {
  FlatCamera camera(1.5);
  camera.raw.mask(2, 3) = 1, camera.raw.ivar(2, 3) = 100;                    // masked
  camera.sky.ivar(3, 5) = 0, camera.raw.ivar(3, 5) = 100;                    // without a sky
  for (std::size_t i = 0; i < kFortyBins; ++i) camera.raw.ivar(0, i) = 100;  // of a target
  camera.sky.flux(2, 7) = std::nan("");
  camera.raw.ivar(3, 9) = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(camera.depth({}).read_noise_scale, 1.5, 1e-5);
  const FlatCamera at_line(1.5, 5885);  // 5885 to 5916.2: the sodium lines of the sky
  FlatCamera bright = at_line;
  for (std::size_t i = 0; i < kFortyBins; ++i) {
    const double w = bright.raw.wave[i];
    if (w > 5886.4 && w < 5902.4) bright.raw.ivar(2, i) = bright.raw.ivar(3, i) = 1e-3;
  }
  EXPECT_EQ(bright.depth({}).read_noise_scale, at_line.depth({}).read_noise_scale);
  FlatCamera none(1.5);
  none.raw.fibermap.reset();
  EXPECT_EQ(none.depth({}).read_noise_scale, 1);
}

TEST(Depth, LeavesOutWhatIsMaskedOrWithoutInformation) {
  FlatCamera camera;
  const double whole = camera.depth({camera.light("qso", 1)}).snr2.at("qso")[0];
  camera.calibrated.mask(0, 0) = 1;
  camera.calibrated.ivar(0, 1) = 0;
  EXPECT_NEAR(camera.depth({camera.light("qso", 1)}).snr2.at("qso")[0],
              whole * (kFortyBins - 2.0) / kFortyBins, 1e-5 * whole);
}

TEST(Depth, HasLessOfWhatDustTakesButOfGalacticStars) {
  FlatCamera camera;
  camera.raw.fibermap->add("EBV", std::span<const double>(std::vector<double>{0, 0.3, 0, 0}));
  const Depth depth = camera.depth({camera.light("lrg", 1), camera.light("gpbbackup", 1)});
  EXPECT_LT(depth.snr2.at("lrg")[1], 0.4 * depth.snr2.at("lrg")[0]);
  EXPECT_EQ(depth.snr2.at("gpbbackup")[1], depth.snr2.at("gpbbackup")[0]);
}

TEST(Depth, OfBrightTargetsCountsTheirOwnLight) {
  const FlatCamera camera;
  const Depth depth = camera.depth({camera.light("bgs", 1), camera.light("gpbbackup", 1)});
  const double x = std::log(1.1);  // seeing
  const double bgs = 15.8 * std::exp(-1.5643 - 0.7175 * x - 0.3611 * x * x + 0.0341 * x * x * x);
  const double stars = 27.5 * std::exp(-0.4473 - 0.9708 * x - 0.5588 * x * x + 0.0989 * x * x * x);
  const double signal = kElectrons * kFlatField;
  for (const auto& [kind, nanomaggies] : {std::pair("bgs", bgs), std::pair("gpbbackup", stars)}) {
    double sum = 0;
    for (const double wave : camera.raw.wave) {
      const double flux = nanomaggies * 1e-9 * 3631e-23 * 2.99792458e18 / (wave * wave) * 1e17;
      sum += signal * signal /
             (FlatCamera::read() + kFlatField * kSkyLight + flux * signal * kBinWidth);
    }
    EXPECT_NEAR(depth.snr2.at(kind)[0], sum, 1e-5 * sum) << kind;
  }
}

TEST(Depth, IsANumberOrAnError) {
  FlatCamera camera;
  const std::vector<double> middle(kFourFibers, 0.0);
  camera.raw.fibermap->add("FIBER_X", middle).add("FIBER_Y", middle);
  camera.plane.acceptance = {{20, 40},
                             {0, 50},
                             {0.2, 2},
                             std::vector<double>(4, 0.5),
                             std::vector<double>(8, 0.0),
                             std::vector<double>(8, 0.25)};
  camera.plane.radius = {0, 100};
  camera.plane.radial = camera.plane.azimuth = {70, 70};
  camera.plane.fiber_um = 107, camera.plane.fiber_as = 1.52;
  EXPECT_GT(camera.depth({camera.light("lrg", 1)}).snr2.at("lrg")[0], 0);
  EXPECT_EQ(loom::test::status_of([&] { (void)camera.depth({camera.light("elg", 1)}); }),
            Status::kNumerical);  // no disc is caught anywhere
}

TEST(Depth, TakesTemplatesOnOtherGridsOnStraightLines) {
  const FlatCamera camera;
  SnrTemplate coarse{"elg", {camera.raw.wave.front() + 4, camera.raw.wave.back() - 4}, {1, 1}};
  EXPECT_NEAR(camera.depth({coarse}).snr2.at("elg")[0],
              camera.depth({camera.light("elg", 1)}).snr2.at("elg")[0], 1e-9);
}

}  // namespace
}  // namespace fiberloom::calibrate
