// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/calibration_file.hpp"

#include <gtest/gtest.h>

#include "fiberloom/formats/formats_test_support.hpp"

namespace fiberloom {
namespace {

TEST(FiberFlatFile, ComesBackAsItWasWritten) {
  const test::TempFolder folder;
  const std::string path = folder.file("fiberflat-r0-00000001.fits");
  const FiberFlatFile flat = test::sample_fiber_flat();
  write_fiber_flat(path, flat, Overwrite::kYes);
  const FiberFlatFile back = read_fiber_flat(path);
  EXPECT_EQ(back.path, path);
  EXPECT_EQ(back.header.text("CAMERA"), "r0");
  EXPECT_EQ(back.wave, flat.wave);
  EXPECT_EQ(back.flat(1, 7), flat.flat(1, 7));
  EXPECT_EQ(back.ivar(1, 7), flat.ivar(1, 7));
  EXPECT_EQ(back.mask(0, 2), kBadFiberFlat);
  EXPECT_EQ(back.mean, flat.mean);
  EXPECT_EQ(back.fibermap->rows, 3U);
  std::string names;
  for (const HduSummary& hdu : list_hdus(path)) names += hdu.name + " ";
  EXPECT_EQ(names, "FIBERFLAT IVAR MASK MEANSPEC WAVELENGTH FIBERMAP ");
}

TEST(FiberFlatFile, WhatDoesNotFitIsNamed) {
  const auto reading = [](const test::Build& build) {
    return test::thrown_by([&] { (void)formats::parse_fiber_flat(test::in_memory(build)); });
  };
  const auto all = [](const char* without, std::size_t nmean) {
    return [=](fits::FitsWriter& w) {
      for (const char* name : {"FIBERFLAT", "IVAR", "MASK"}) {
        if (name != std::string(without)) test::add_image(w, name, {8, 3}, fits::PixelType::kInt32);
      }
      test::add_image(w, "MEANSPEC", {nmean});
      test::add_image(w, "WAVELENGTH", {8});
    };
  };
  EXPECT_EQ(reading(all("FIBERFLAT", 8)).status, Status::kMissingHdu);
  EXPECT_EQ(reading(all("MASK", 8)).status, Status::kMissingHdu);
  const auto short_mean = reading(all("", 7));
  EXPECT_EQ(short_mean.status, Status::kCorrupt) << "wavelengths of 0 come first";
  const FiberFlatFile whole = test::sample_fiber_flat();
  FiberFlatFile wrong = whole;
  wrong.mean.pop_back();
  const test::TempFolder folder;
  EXPECT_EQ(test::thrown_by([&] {
              write_fiber_flat(folder.file("a.fits"), wrong, Overwrite::kYes);
            }).status,
            Status::kInternal);
}

TEST(SkyFile, ComesBackAsItWasWrittenAndWithoutWhatNeedNotBeThere) {
  const test::TempFolder folder;
  const std::string path = folder.file("sky-r0-00000011.fits");
  SkyFile sky = test::sample_sky();
  write_sky(path, sky, Overwrite::kYes);
  SkyFile back = read_sky(path);
  EXPECT_EQ(back.flux(2, 5), sky.flux(2, 5));
  EXPECT_EQ(back.ivar(2, 5), sky.ivar(2, 5));
  EXPECT_EQ(back.stat_ivar(2, 5), sky.stat_ivar(2, 5));
  EXPECT_EQ(back.mask(1, 1), kBadSky);
  EXPECT_EQ(back.throughput, sky.throughput);
  sky.stat_ivar = {};
  sky.throughput.clear();
  write_sky(path, sky, Overwrite::kYes);
  back = read_sky(path);
  EXPECT_TRUE(back.stat_ivar.empty());
  EXPECT_TRUE(back.throughput.empty());
  EXPECT_EQ(list_hdus(path).size(), 4U);
}

TEST(SkyFile, AFactorForEachSpectrum) {
  const auto thrown = test::thrown_by([] {
    (void)formats::parse_sky(test::in_memory([](fits::FitsWriter& w) {
      test::add_image(w, "SKY", {2, 3});
      test::add_image(w, "IVAR", {2, 3});
      test::add_image(w, "MASK", {2, 3}, fits::PixelType::kInt32);
      w.image("WAVELENGTH", std::vector<double>{1, 2}, {2}, fits::PixelType::kFloat64);
      test::add_image(w, "THRPUTCORR", {2});
    }));
  });
  EXPECT_EQ(thrown.status, Status::kWrongShape);
  EXPECT_NE(thrown.message.find("THRPUTCORR"), std::string::npos) << thrown.message;
}

TEST(FluxCalibrationFile, ComesBackAsItWasWrittenAndWithoutWhatNeedNotBeThere) {
  const test::TempFolder folder;
  const std::string path = folder.file("fluxcalib-r0-00000011.fits");
  FluxCalibrationFile file = test::sample_flux_calibration();
  write_flux_calibration(path, file, Overwrite::kYes);
  FluxCalibrationFile back = read_flux_calibration(path);
  EXPECT_EQ(back.calib(2, 5), file.calib(2, 5)) << "float64";
  EXPECT_EQ(back.ivar(2, 5), file.ivar(2, 5));
  EXPECT_EQ(back.deconvolved, file.deconvolved);
  EXPECT_EQ(back.flat_to_psf, file.flat_to_psf);
  EXPECT_EQ(back.stars->rows, 1U);
  EXPECT_EQ(back.header.text("CAMERA"), "r0");
  std::string names;
  for (const HduSummary& hdu : list_hdus(path)) names += hdu.name + " ";
  EXPECT_EQ(names, "FLUXCALIB IVAR MASK WAVELENGTH FIBERCORR STDSTAR_FIBERMAP DECONVOLVED_CALIB ");
  file.stars.reset();
  file.deconvolved.clear();
  file.flat_to_psf.clear();
  write_flux_calibration(path, file, Overwrite::kYes);
  back = read_flux_calibration(path);
  EXPECT_TRUE(back.deconvolved.empty() && back.flat_to_psf.empty() && !back.stars);
  file.deconvolved.assign(3, 1.0);
  EXPECT_EQ(test::thrown_by([&] { write_flux_calibration(path, file, Overwrite::kYes); }).status,
            Status::kInternal);
}

}  // namespace
}  // namespace fiberloom
