// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fiberloom/formats/formats_test_support.hpp"

namespace fiberloom {
namespace {

using fits::FitsWriter;
using fits::PixelType;
using test::add_camera;
using test::add_image;

SpectraFile parsed(const test::Build& build) {
  return formats::parse_spectra(test::in_memory(build));
}
test::Thrown parsing_spectra(const test::Build& build) {
  return test::thrown_by([&] { (void)parsed(build); });
}

TEST(SpectraFile, HasTheSpectraOfEachCameraAndTheTablesOfAll) {
  const SpectraFile file = parsed(test::add_coadd);

  ASSERT_EQ(file.cameras.size(), 2U);
  EXPECT_EQ(file.nspec(), 3U);
  const SpectraFile::Camera &b = file.cameras[0], &z = file.cameras[1];
  EXPECT_EQ(b.name + z.name, "BZ");
  EXPECT_EQ(b.header.text("BUNIT"), "10**-17 erg/(s cm2 Angstrom)");
  EXPECT_EQ(z.spectra.nwave(), 15U);
  EXPECT_EQ(z.spectra.wave[1], 7520 + 0.8);
  EXPECT_EQ(b.spectra.flux(2, 11), 31.0);
  EXPECT_EQ(b.spectra.ivar(0, 0), 0.25);
  EXPECT_EQ(b.spectra.mask(1, 1), 2U);
  EXPECT_EQ(b.spectra.resolution.planes(), 3U);
  EXPECT_EQ(b.spectra.resolution(1, 2, 3), 1.0F);
  EXPECT_EQ(file.fibermap->column("FIBER"), (std::vector<double>{7, 8, 9}));
  EXPECT_EQ(file.exp_fibermap->rows, 5U);
  EXPECT_EQ(file.scores->column("TSNR2_LRG"), (std::vector<double>{1, 2, 3}));
}

TEST(SpectraFile, NeedsNeitherMaskNorResolutionNorTables) {
  const SpectraFile file = parsed([](FitsWriter& w) {
    const std::vector<double> wave{3600, 3601, 3602, 3603};
    add_image(w, "R_FLUX", {4, 2});
    add_image(w, "R_IVAR", {4, 2});
    w.image("R_WAVELENGTH", std::span<const double>(wave), {4}, PixelType::kFloat32);
  });
  EXPECT_EQ(file.cameras.at(0).name, "R");
  EXPECT_TRUE(file.cameras[0].spectra.mask.empty());
  EXPECT_TRUE(file.cameras[0].spectra.resolution.empty());
  EXPECT_FALSE(file.fibermap || file.exp_fibermap || file.scores);
}

TEST(SpectraFile, AFrameIsAFileOfItsOneCamera) {
  const test::TempFolder folder;
  FrameFile frame;
  frame.wave = {7520, 7520.8, 7521.6};
  frame.flux = Array2D<double>(2, 3, 4.0);
  frame.ivar = Array2D<double>(2, 3, 0.5);
  frame.header.set("CAMERA", "z3");
  frame.header.set("BUNIT", "electron/Angstrom");
  frame.header.set("EXPID", 17);
  write_frame(folder.file("f.fits"), frame, Overwrite::kYes);

  const SpectraFile file = read_spectra(folder.file("f.fits"));
  EXPECT_TRUE(file.is_frame);
  ASSERT_EQ(file.cameras.size(), 1U);
  EXPECT_EQ(file.cameras[0].name, "Z");
  EXPECT_EQ(file.cameras[0].header.text("BUNIT"), "electron/Angstrom");
  EXPECT_FALSE(file.cameras[0].header.has("EXPID")) << "it is the file's";
  EXPECT_EQ(file.header.integer("EXPID"), 17);
  EXPECT_EQ(file.cameras[0].spectra.wave, frame.wave);
  EXPECT_EQ(file.cameras[0].spectra.flux(1, 2), 4.0);
}

TEST(SpectraFile, HalfACameraOrNoneIsNamed) {
  const auto none = parsing_spectra([](FitsWriter& w) { add_image(w, "FLUX", {4, 2}); });
  EXPECT_EQ(none.status, Status::kMissingHdu);
  EXPECT_EQ(none.message, "test.fits: no HDU B_WAVELENGTH; the file has FLUX");
  const auto no_wave = parsing_spectra([](FitsWriter& w) {
    add_camera(w, "B", 3600, 2, 4);
    add_image(w, "Z_FLUX", {4, 2});
  });
  EXPECT_EQ(no_wave.status, Status::kMissingHdu);
  EXPECT_NE(no_wave.message.find("no HDU Z_WAVELENGTH"), std::string::npos) << no_wave.message;
  const auto no_ivar = parsing_spectra([](FitsWriter& w) {
    const std::vector<double> wave{1, 2};
    w.image("R_WAVELENGTH", std::span<const double>(wave), {2}, PixelType::kFloat64);
    add_image(w, "R_FLUX", {2, 2});
  });
  EXPECT_NE(no_ivar.message.find("no HDU R_IVAR"), std::string::npos) << no_ivar.message;
}

TEST(SpectraFile, ShapesThatDifferAreNamed) {
  const auto spectra = parsing_spectra([](FitsWriter& w) {
    add_camera(w, "B", 3600, 2, 4);
    add_camera(w, "R", 5600, 3, 4);
  });
  EXPECT_EQ(spectra.status, Status::kWrongShape);
  EXPECT_EQ(spectra.message, "test.fits: HDU 6 'R_FLUX': 3 spectra, but B_FLUX has 2");
  const auto rows = parsing_spectra([](FitsWriter& w) {
    w.table("FIBERMAP", test::sample_fibermap(3));
    add_camera(w, "B", 3600, 2, 4);
  });
  EXPECT_EQ(rows.message,
            "test.fits: HDU 1 'FIBERMAP': 3 rows, expected one for each of 2 spectra");
  const auto with = [](const char* name, const std::vector<std::size_t>& axes) {
    return parsing_spectra([&](FitsWriter& w) {
      add_image(w, name, axes);  // the first of a name counts
      add_camera(w, "B", 3600, 2, 4);
    });
  };
  EXPECT_EQ(with("B_IVAR", {5, 2}).status, Status::kWrongShape);
  EXPECT_EQ(with("B_MASK", {4, 3}).status, Status::kWrongShape);
  EXPECT_EQ(with("B_RESOLUTION", {4, 4, 2}).status, Status::kWrongShape) << "even";
  EXPECT_EQ(with("B_RESOLUTION", {4, 5, 3}).status, Status::kWrongShape);
}

TEST(SpectraFile, WavelengthsThatDoNotIncreaseAreCorrupt) {
  for (const double second : {3600.0, 3599.0, std::nan("")}) {
    const auto thrown = parsing_spectra([&](FitsWriter& w) {
      const std::vector<double> wave{3600, second, 3602, 3603};
      w.image("B_WAVELENGTH", std::span<const double>(wave), {4}, PixelType::kFloat64);
      add_camera(w, "B", 3600, 2, 4);
    });
    EXPECT_EQ(thrown.status, Status::kCorrupt) << second;
    EXPECT_NE(thrown.message.find("HDU 0 'B_WAVELENGTH': bin 1"), std::string::npos)
        << thrown.message;
  }
}

TEST(SpectraFile, ComesBackAsItWasWritten) {
  const test::TempFolder folder;
  const SpectraFile file = parsed(test::add_coadd);
  SpectraFile changed = file;
  changed.header.set("SURVEY", "main");
  changed.cameras[1].spectra.mask = {};
  changed.cameras[1].spectra.resolution = {};

  write_spectra(folder.file("a.fits"), changed, Overwrite::kNo);
  write_spectra(folder.file("b.fits"), changed, Overwrite::kNo);
  const SpectraFile back = read_spectra(folder.file("a.fits"));

  EXPECT_EQ(back.header.text("SURVEY"), "main");
  ASSERT_EQ(back.cameras.size(), 2U);
  for (std::size_t c = 0; c < 2; ++c) {
    const Spectra &was = changed.cameras[c].spectra, &is = back.cameras[c].spectra;
    EXPECT_EQ(back.cameras[c].name, changed.cameras[c].name);
    EXPECT_EQ(is.wave, was.wave);
    EXPECT_TRUE(std::equal(is.flux.data(), is.flux.data() + is.flux.size(), was.flux.data()));
    EXPECT_TRUE(std::equal(is.ivar.data(), is.ivar.data() + is.ivar.size(), was.ivar.data()));
    EXPECT_EQ(is.resolution.size(), was.resolution.size());
  }
  EXPECT_EQ(back.cameras[0].spectra.mask(1, 1), 2U);
  EXPECT_EQ(back.cameras[1].spectra.mask(1, 1), 0U) << "none is written as zeros";
  EXPECT_EQ(back.cameras[0].header.text("BUNIT"), "10**-17 erg/(s cm2 Angstrom)");
  EXPECT_EQ(back.fibermap->column("FIBER"), file.fibermap->column("FIBER"));
  EXPECT_EQ(back.exp_fibermap->rows, 5U);
  EXPECT_EQ(back.scores->column("TSNR2_LRG"), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(test::read_bytes(folder.file("a.fits")), test::read_bytes(folder.file("b.fits")));
}

TEST(SpectraFile, AShapeThatDiffersIsNotWritten) {
  const test::TempFolder folder;
  SpectraFile file = parsed(test::add_coadd);
  file.cameras[1].spectra.ivar = Array2D<double>(2, 2);
  const auto thrown =
      test::thrown_by([&] { write_spectra(folder.file("a.fits"), file, Overwrite::kNo); });
  EXPECT_EQ(thrown.status, Status::kInternal);
  EXPECT_NE(thrown.message.find("Z_IVAR has another shape"), std::string::npos) << thrown.message;
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.fits")));
}

TEST(SpectraFileParity, ARealCoaddComesBackWhole) {
  const std::string path =
      test::parity_file("coadd-4-80613-thru20210324.fits", "FIBERLOOM_TEMPLATES_DIR");
  if (path.empty()) GTEST_SKIP() << "FIBERLOOM_TEMPLATES_DIR is not set";
  const test::TempFolder folder;
  const SpectraFile file = read_spectra(path);
  write_spectra(folder.file("coadd.fits"), file, Overwrite::kNo);
  const SpectraFile back = read_spectra(folder.file("coadd.fits"));
  EXPECT_EQ(back.header.cards, file.header.cards);
  EXPECT_EQ(back.fibermap->columns.size(), 81U);
  for (std::size_t c = 0; c < 3; ++c) {
    const Spectra &was = file.cameras[c].spectra, &is = back.cameras[c].spectra;
    EXPECT_TRUE(std::equal(is.flux.data(), is.flux.data() + is.flux.size(), was.flux.data()));
    EXPECT_TRUE(std::equal(is.resolution.data(), is.resolution.data() + is.resolution.size(),
                           was.resolution.data()));
  }
}

TEST(SpectraFileParity, ReadsARealCoadd) {
  const std::string path =
      test::parity_file("coadd-4-80613-thru20210324.fits", "FIBERLOOM_TEMPLATES_DIR");
  if (path.empty()) GTEST_SKIP() << "FIBERLOOM_TEMPLATES_DIR is not set";

  const SpectraFile file = read_spectra(path);

  ASSERT_EQ(file.cameras.size(), 3U);
  EXPECT_EQ(file.nspec(), 1U);
  const std::size_t bins[] = {2751, 2326, 2881};
  for (std::size_t c = 0; c < 3; ++c) {
    const Spectra& s = file.cameras[c].spectra;
    EXPECT_EQ(s.nwave(), bins[c]);
    EXPECT_EQ(s.resolution.rows(), 11U);
  }
  ASSERT_TRUE(file.fibermap && file.exp_fibermap && file.scores);
  EXPECT_EQ(file.fibermap->columns.size(), 81U);
  EXPECT_EQ(file.exp_fibermap->rows, 30U);
  EXPECT_EQ(file.scores->columns.size(), 42U);
  EXPECT_EQ(file.fibermap->integers("TARGETID", 0), file.scores->integers("TARGETID", 0));
  EXPECT_EQ(file.exp_fibermap->integers("TARGETID", 0)->front(),
            file.fibermap->integers("TARGETID", 0)->front());
}

}  // namespace
}  // namespace fiberloom
