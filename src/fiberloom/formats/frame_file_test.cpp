// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "fiberloom/formats/formats_test_support.hpp"

namespace fiberloom {
namespace {

using fits::FitsWriter;
using fits::PixelType;
using test::add_image;
using test::thrown_by;

test::Thrown parsing_frame(const test::Build& build) {
  return thrown_by([&] { (void)formats::parse_frame(test::in_memory(build)); });
}

TEST(Frame, HasDesispecsHdusInItsOrderAndTypes) {
  const test::TempFolder folder;
  write_frame(folder.file("f.fits"), test::sample_frame(), Overwrite::kYes);

  std::string found;
  for (const auto& h : list_hdus(folder.file("f.fits"))) {
    found += h.name + ":" + h.type + ":" + h.shape + " ";
  }

  EXPECT_EQ(found,
            "FLUX:float32:4 x 30 IVAR:float32:4 x 30 MASK:uint32:4 x 30 WAVELENGTH:float64:30 "
            "RESOLUTION:float32:4 x 11 x 30 FIBERMAP:3 columns:4 rows CHI2PIX:float32:4 x 30 "
            "SCORES:3 columns:4 rows ");
}

TEST(Frame, ComesBackInSinglePrecision) {
  const test::TempFolder folder;
  const FrameFile frame = test::sample_frame();
  write_frame(folder.file("f.fits.gz"), frame, Overwrite::kYes);

  const FrameFile back = read_frame(folder.file("f.fits"), Verify::kYes, FrameTables::kAll);

  EXPECT_EQ(back.path, folder.file("f.fits.gz"));
  EXPECT_EQ(back.wave, frame.wave);
  for (std::size_t i = 0; i < back.flux.size(); ++i) {
    EXPECT_EQ(back.flux.data()[i], static_cast<float>(frame.flux.data()[i]));
    EXPECT_EQ(back.mask.data()[i], frame.mask.data()[i]);
  }
  EXPECT_EQ(back.resolution(1, 5, 7), 0.6F);
  EXPECT_EQ(back.chi2pix(0, 0), 1.0);
  EXPECT_EQ(back.fibermap->column("FIBER"), (std::vector<double>{1502, 1503, 1504, 1505}));
  EXPECT_EQ(back.scores->column("SUM_RAW_COUNT_R"), frame.scores->column("SUM_RAW_COUNT_R"));
  EXPECT_EQ(back.header.text("BUNIT"), "electron/Angstrom");
  EXPECT_EQ(back.header.integer("FIBERMIN"), 1502);
  EXPECT_EQ(back.header.text("FLAVOR"), "science");
}

TEST(Frame, OfLightKeepsItsUnitHoweverItIsWritten) {
  const test::TempFolder folder;
  FrameFile frame = test::sample_frame();
  for (const char* unit : {"10**-17 erg/(s cm2 Angstrom)", "1E-17 erg/cm^2/s/Ang"}) {
    frame.header.set("BUNIT", std::string(unit));
    write_frame(folder.file("f.fits"), frame, Overwrite::kYes);
    EXPECT_EQ(read_frame(folder.file("f.fits")).header.text("BUNIT"), unit);
  }
}

TEST(Frame, InAnotherUnitOfWavelengthIsRefused) {
  const auto in = [](const char* unit) {
    return parsing_frame([&](FitsWriter& w) {
      HeaderCards header;
      header.set("BUNIT", std::string(unit));
      add_image(w, "FLUX", {1, 4});
      add_image(w, "IVAR", {1, 4});
      add_image(w, "WAVELENGTH", {1}, PixelType::kFloat64, header);
    });
  };
  EXPECT_EQ(in("Angstrom").status, Status::kOk) << in("Angstrom").message;
  EXPECT_EQ(in("").status, Status::kOk);
  for (const char* unit : {"nm", "Micron"}) EXPECT_EQ(in(unit).status, Status::kUnsupported);
}

TEST(Frame, FibermapIsCarriedUnchangedWithUnitsAndKeywords) {
  const test::TempFolder folder;
  const FrameFile frame = test::sample_frame();
  write_frame(folder.file("f.fits"), frame, Overwrite::kYes);

  const RawTable map = read_fibermap(folder.file("f.fits"));

  const RawTable before = test::sample_fibermap(4, 1502);
  EXPECT_EQ(map.data, before.data);
  EXPECT_EQ(map.column_cards, before.column_cards);
  EXPECT_EQ(map.header.text("SURVEY"), "main");
}

TEST(Frame, FirstFibreComesFromTheSpectrographWithoutFibermap) {
  const test::TempFolder folder;
  FrameFile frame = test::sample_frame();
  frame.fibermap.reset();
  write_frame(folder.file("f.fits"), frame, Overwrite::kYes);

  EXPECT_EQ(read_frame(folder.file("f.fits")).header.integer("FIBERMIN"), 1502);  // CAMERA r3
}

TEST(Frame, TheSameFrameGivesTheSameBytes) {
  const test::TempFolder folder;
  for (const char* name : {"a.fits", "b.fits", "a.fits.gz", "b.fits.gz"}) {
    write_frame(folder.file(name), test::sample_frame(), Overwrite::kYes);
  }

  EXPECT_EQ(test::read_bytes(folder.file("a.fits")), test::read_bytes(folder.file("b.fits")));
  EXPECT_EQ(test::read_bytes(folder.file("a.fits.gz")), test::read_bytes(folder.file("b.fits.gz")));
}

TEST(Frame, NoClobberKeepsTheOldFile) {
  const test::TempFolder folder;
  const std::string path = folder.file("f.fits");
  write_frame(path, test::sample_frame(), Overwrite::kNo);
  const auto before = test::read_bytes(path);

  EXPECT_EQ(thrown_by([&] { write_frame(path, test::sample_frame(8), Overwrite::kNo); }).status,
            Status::kOutputExists);

  EXPECT_EQ(test::read_bytes(path), before);
  write_frame(path, test::sample_frame(8), Overwrite::kYes);
  EXPECT_EQ(read_frame(path).flux.rows(), 8U);
}

TEST(Frame, AFullDeviceIsDiskFull) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";

  EXPECT_EQ(
      thrown_by([] { write_frame("/dev/full", test::sample_frame(), Overwrite::kYes); }).status,
      Status::kDiskFull);
}

TEST(Frame, ResultsOfDifferentShapesAreNotWritten) {
  const test::TempFolder folder;
  FrameFile frame = test::sample_frame();
  frame.ivar = Array2D<double>(4, 29, 1.0);

  EXPECT_EQ(thrown_by([&] { write_frame(folder.file("f.fits"), frame, Overwrite::kYes); }).status,
            Status::kInternal);
  EXPECT_EQ(folder.count(), 0U);
}

TEST(Frame, MissingHdusAndWrongShapesAreNamed) {
  const auto no_ivar = parsing_frame([](FitsWriter& w) { add_image(w, "FLUX", {5, 4}); });
  const auto bad_ivar = parsing_frame([](FitsWriter& w) {
    add_image(w, "FLUX", {5, 4});
    add_image(w, "IVAR", {6, 4});
  });
  const auto bad_wave = parsing_frame([](FitsWriter& w) {
    add_image(w, "FLUX", {5, 4});
    add_image(w, "IVAR", {5, 4});
    add_image(w, "WAVELENGTH", {4});
  });
  const auto bad_resolution = parsing_frame([](FitsWriter& w) {
    add_image(w, "FLUX", {5, 4});
    add_image(w, "IVAR", {5, 4});
    add_image(w, "WAVELENGTH", {5});
    add_image(w, "RESOLUTION", {5, 4, 4});
  });

  EXPECT_EQ(no_ivar.message, "test.fits: no HDU IVAR; the file has FLUX");
  EXPECT_EQ(bad_ivar.message, "test.fits: HDU 1 'IVAR': shape 4 x 6, expected that of FLUX, 4 x 5");
  EXPECT_EQ(bad_wave.status, Status::kWrongShape);
  EXPECT_EQ(bad_resolution.status, Status::kWrongShape);
}

TEST(Frame, ReadsSpexAndExspecFlavours) {
  const auto exspec = test::in_memory([](FitsWriter& w) {
    add_image(w, "FLUX", {5, 4});
    add_image(w, "IVAR", {5, 4});
    add_image(w, "WAVELENGTH", {5}, PixelType::kFloat32);
  });

  const FrameFile frame = formats::parse_frame(exspec);

  EXPECT_EQ(frame.wave.size(), 5U);
  EXPECT_TRUE(frame.mask.empty());
  EXPECT_TRUE(frame.resolution.empty());
  EXPECT_FALSE(frame.fibermap);
}

TEST(Image, IsOnePrimaryHduWithTheGivenCards) {
  const test::TempFolder folder;
  const Array2D<float> image(3, 5, 2.5F);
  HeaderCards h;
  h.set("BUNIT", "electron");

  write_image(folder.file("m.fits"), image, h, "MODEL", Overwrite::kYes);

  const auto file = fits::FitsReader::open(folder.file("m.fits"));
  ASSERT_EQ(file.hdus().size(), 1U);
  EXPECT_EQ(file.hdus()[0].name, "MODEL");
  EXPECT_EQ(file.hdus()[0].shape(), "3 x 5");
  EXPECT_EQ(formats::read_matrix(file, file.hdus()[0])(2, 4), 2.5);
}

TEST(Truth, ComesBackExactly) {
  const test::TempFolder folder;
  TruthFile truth;
  truth.wave = {5000, 5000.4, 5000.8};
  truth.flux = Array2D<double>(2, 3, 1.0 / 3.0);
  truth.fibermap = to_table(test::sample_fibermap(2));
  write_truth(folder.file("t.fits.gz"), truth, Overwrite::kYes);

  const TruthFile back = read_truth(folder.file("t.fits.gz"));

  EXPECT_EQ(back.wave, truth.wave);
  EXPECT_EQ(back.flux(1, 2), 1.0 / 3.0);
  EXPECT_EQ(to_raw_table(back.fibermap).data, test::sample_fibermap(2).data);
}

TEST(FrameParity, ReadsWhatThePeersWrote) {
  const std::string exact = test::parity_file("exact.fits.gz");
  if (exact.empty()) GTEST_SKIP() << "FIBERLOOM_PARITY_DIR is not set";

  for (const std::string& path : {exact, test::parity_file("gpu_specter.fits.gz")}) {
    const FrameFile frame = read_frame(path);
    EXPECT_EQ(frame.flux.rows(), 25U);
    EXPECT_EQ(frame.wave.size(), 2326U);
    EXPECT_EQ(frame.resolution.rows(), 11U);
  }
}

}  // namespace
}  // namespace fiberloom
