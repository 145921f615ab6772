// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "fiberloom/formats/formats_test_support.hpp"
#include "fiberloom/status.hpp"

namespace fiberloom {
namespace {

using fits::FitsWriter;
using fits::PixelType;
using test::add_image;
using test::thrown_by;

test::Thrown parsing_preproc(const test::Build& build) {
  return thrown_by([&] { (void)formats::parse_preproc(test::in_memory(build)); });
}

void expect_same(const PixelArray& a, const PixelArray& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.cols(); ++c) ASSERT_EQ(a.at(r, c), b.at(r, c));
  }
}

TEST(Preproc, ComesBackAsItWasWrittenPlainAndGzipped) {
  const test::TempFolder folder;
  const PreprocFile frame = test::sample_preproc();
  for (const char* name : {"p.fits", "p[0].fits.gz"}) {
    write_preproc(folder.file(name), frame, Overwrite::kYes);

    const PreprocFile back = read_preproc(folder.file(name));

    EXPECT_EQ(back.path, folder.file(name));
    expect_same(back.ccd.image, frame.ccd.image);
    expect_same(back.ccd.ivar, frame.ccd.ivar);
    EXPECT_TRUE(
        std::equal(back.mask.data(), back.mask.data() + back.mask.size(), frame.mask.data()));
    EXPECT_EQ(back.header.text("CAMERA"), "r3");
    EXPECT_EQ(back.readnoise, 3.5);
    ASSERT_TRUE(back.fibermap);
    EXPECT_EQ(back.fibermap->data, frame.fibermap->data);
    EXPECT_EQ(back.fibermap->header.text("SURVEY"), "main");
  }
}

TEST(Preproc, ReadsIvarAndImageByPositionWhenTheyHaveNoNames) {
  const auto file = test::in_memory([](FitsWriter& w) {
    add_image(w, "", {5, 4});
    add_image(w, "", {5, 4});
  });

  const PreprocFile frame = formats::parse_preproc(file);

  EXPECT_EQ(frame.ccd.image.rows(), 4U);
  EXPECT_TRUE(frame.mask.empty());
  EXPECT_FALSE(frame.fibermap);
  EXPECT_FALSE(frame.readnoise);
}

TEST(Preproc, APsfOrSpectraAreNotTakenForPixels) {
  const auto psf = parsing_preproc([](FitsWriter& w) {
    add_image(w, "XTRACE", {5, 4});
    add_image(w, "YTRACE", {5, 4});
  });
  const auto frame = parsing_preproc([](FitsWriter& w) {
    add_image(w, "FLUX", {5, 4});
    add_image(w, "IVAR", {5, 4});
  });

  EXPECT_EQ(psf.status, Status::kMissingHdu);
  EXPECT_TRUE(psf.says("this is a PSF"));
  EXPECT_EQ(frame.status, Status::kMissingHdu);
  EXPECT_TRUE(frame.says("this is a file of spectra"));
}

TEST(Preproc, MissingFileIsNotFoundAndNamesIt) {
  const auto thrown = thrown_by([] { (void)read_preproc("/nonexistent/p.fits"); });

  EXPECT_EQ(thrown.status, Status::kNotFound);
  EXPECT_TRUE(thrown.says("/nonexistent/p.fits"));
}

TEST(Preproc, MissingIvarIsAMissingHduEvenWhenAMaskIsSecond) {
  const auto thrown = parsing_preproc([](FitsWriter& w) {
    add_image(w, "IMAGE", {5, 4});
    add_image(w, "MASK", {5, 4}, PixelType::kInt16);
  });

  EXPECT_EQ(thrown.status, Status::kMissingHdu);
  EXPECT_EQ(thrown.message, "test.fits: no HDU IVAR; the file has IMAGE, MASK");
}

TEST(Preproc, DisagreeingShapesNameBothHdus) {
  const auto ivar = parsing_preproc([](FitsWriter& w) {
    add_image(w, "IMAGE", {5, 4});
    add_image(w, "IVAR", {5, 3});
  });
  const auto mask = parsing_preproc([](FitsWriter& w) {
    add_image(w, "IMAGE", {5, 4});
    add_image(w, "IVAR", {5, 4});
    add_image(w, "MASK", {4, 5}, PixelType::kInt16);
  });

  EXPECT_EQ(ivar.status, kSizeMismatch);
  EXPECT_TRUE(ivar.says("HDU 1 'IVAR': shape 3 x 5, but HDU 0 'IMAGE' has 4 x 5")) << ivar.message;
  EXPECT_EQ(mask.status, kSizeMismatch);
}

TEST(Preproc, ImageOfThreeAxesOrATableIsTheWrongShape) {
  const auto cube = parsing_preproc([](FitsWriter& w) { add_image(w, "IMAGE", {5, 4, 2}); });
  const auto table =
      parsing_preproc([](FitsWriter& w) { w.table("IMAGE", test::sample_fibermap(3)); });

  EXPECT_EQ(cube.status, Status::kWrongShape);
  EXPECT_TRUE(cube.says("shape 2 x 4 x 5, expected an image with 2 axes"));
  EXPECT_EQ(table.status, Status::kWrongShape);
}

TEST(Preproc, MaskOfFloatsIsTheWrongShape) {
  const auto thrown = parsing_preproc([](FitsWriter& w) {
    add_image(w, "IMAGE", {5, 4});
    add_image(w, "IVAR", {5, 4});
    add_image(w, "MASK", {5, 4}, PixelType::kFloat32);
  });

  EXPECT_EQ(thrown.status, Status::kWrongShape);
  EXPECT_TRUE(thrown.says("BITPIX is -32, expected integers"));
}

TEST(Preproc, MaskBitsAreTheSameForEveryIntegerType) {
  const std::vector<std::uint32_t> bits{0, 1, 16, 767, 0x7fff, 0x8000};
  for (const PixelType type : {PixelType::kInt16, PixelType::kInt32, PixelType::kUInt32}) {
    const auto file = test::in_memory([&](FitsWriter& w) {
      add_image(w, "IMAGE", {6, 1});
      add_image(w, "IVAR", {6, 1});
      w.image("MASK", std::span<const std::uint32_t>(bits), {6, 1}, type);
    });

    const auto mask = formats::parse_preproc(file).mask;

    for (std::size_t i = 0; i < bits.size(); ++i) EXPECT_EQ(mask.data()[i], bits[i]);
  }
}

TEST(Preproc, ReadnoiseIsTheMeanOfItsHduWithoutTheKeyword) {
  const std::vector<double> noise{2, 4, 0, std::nan("")};
  const auto file = test::in_memory([&](FitsWriter& w) {
    add_image(w, "IMAGE", {2, 2});
    add_image(w, "IVAR", {2, 2});
    w.image("READNOISE", std::span<const double>(noise), {2, 2}, PixelType::kFloat32);
  });

  EXPECT_EQ(formats::parse_preproc(file).readnoise, 3.0);
}

TEST(Preproc, ReadnoiseOfEachPixelIsReadWhereItIsAskedFor) {
  const std::vector<double> noise{2, 4, 0, std::nan("")};
  const auto with = [&](std::vector<std::size_t> axes) {
    return test::in_memory([&](FitsWriter& w) {
      add_image(w, "IMAGE", {2, 2});
      add_image(w, "IVAR", {2, 2});
      w.image("READNOISE", std::span<const double>(noise), axes, PixelType::kFloat32);
    });
  };

  const ReadNoise map = formats::parse_preproc(with({2, 2}), NoiseMap::kByPixel).ccd.readnoise;

  EXPECT_EQ(map.variance(0, 0), 4);
  EXPECT_EQ(map.variance(0, 1), 16);
  EXPECT_EQ(map.variance(1, 0), 9) << "no noise: the mean of the others";
  EXPECT_EQ(map.variance(1, 1), 9);
  EXPECT_TRUE(formats::parse_preproc(with({2, 2})).ccd.readnoise.by_pixel.empty());
  const auto thrown = thrown_by([&] {
    (void)formats::parse_preproc(with({4, 1}), NoiseMap::kByPixel);
  });
  EXPECT_EQ(thrown.status, kSizeMismatch);
}

TEST(Preproc, TruncatedFilesAreCorruptPlainAndGzipped) {
  const test::TempFolder folder;
  for (const char* name : {"p.fits", "p.fits.gz"}) {
    const std::string path = folder.file(name);
    write_preproc(path, test::sample_preproc(), Overwrite::kYes);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);

    const auto thrown = thrown_by([&] { (void)read_preproc(path); });

    EXPECT_EQ(thrown.status, Status::kCorrupt);
    EXPECT_TRUE(thrown.says(path)) << thrown.message;
    std::filesystem::remove(path);
  }
}

TEST(Fibermap, IsFoundByNameElseTheFirstTable) {
  const auto named = test::in_memory([](FitsWriter& w) {
    w.table("OTHER", test::sample_fibermap(2));
    w.table("FIBERMAP", test::sample_fibermap(5));
  });
  const auto first = test::in_memory([](FitsWriter& w) {
    w.table("OTHER", test::sample_fibermap(2));
    w.table("MORE", test::sample_fibermap(5));
  });
  const auto none = test::in_memory([](FitsWriter& w) { add_image(w, "A", {2}); });

  EXPECT_EQ(formats::parse_fibermap(named).rows, 5U);
  EXPECT_EQ(formats::parse_fibermap(first).rows, 2U);
  EXPECT_EQ(thrown_by([&] { (void)formats::parse_fibermap(none); }).status, Status::kMissingHdu);
}

TEST(ListHdus, SaysWhatIsThere) {
  const test::TempFolder folder;
  write_preproc(folder.file("p.fits"), test::sample_preproc(), Overwrite::kYes);

  const auto hdus = list_hdus(folder.file("p.fits"));

  ASSERT_EQ(hdus.size(), 4U);
  EXPECT_EQ(hdus[0].name + " " + hdus[0].kind + " " + hdus[0].type + " " + hdus[0].shape,
            "IMAGE image float32 24 x 40");
  EXPECT_TRUE(hdus[2].compressed);
  EXPECT_EQ(hdus[2].type, "int16");
  EXPECT_EQ(hdus[3].type + ", " + hdus[3].shape, "3 columns, 10 rows");
}

TEST(PreprocParity, ReadsTheSharedFrame) {
  const std::string path = test::parity_file("preproc-r0-00000011.fits.gz");
  if (path.empty()) GTEST_SKIP() << "FIBERLOOM_PARITY_DIR is not set";

  const PreprocFile frame = read_preproc(path);

  EXPECT_EQ(frame.ccd.image.rows(), 4128U);
  EXPECT_EQ(frame.ccd.image.cols(), 4114U);
  EXPECT_EQ(frame.readnoise, 3.0);
  std::size_t cosmic = 0;
  for (std::size_t i = 0; i < frame.mask.size(); ++i) cosmic += frame.mask.data()[i] == 16;
  EXPECT_EQ(cosmic, 2359U);
  EXPECT_EQ(frame.fibermap->rows, 500U);
}

}  // namespace
}  // namespace fiberloom
