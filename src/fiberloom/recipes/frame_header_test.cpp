// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/frame_header.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "fiberloom/recipes/frame_outputs.hpp"

namespace fiberloom {
namespace {

class ShortenFilename : public testing::Test {
 protected:
  void SetUp() override {
    setenv("DESI_SPECTRO_CALIB", "/calib", 1);
    setenv("DESI_SPECTRO_REDUX", "/redux", 1);
    setenv("SPECPROD", "daily", 1);
  }
  void TearDown() override {
    for (const char* name : {"DESI_SPECTRO_CALIB", "DESI_SPECTRO_REDUX", "SPECPROD"}) {
      unsetenv(name);
    }
  }
};

TEST_F(ShortenFilename, ReplacesTheFoldersThatDesispecReplaces) {
  EXPECT_EQ(shorten_filename("/calib/spec/psf.fits"), "SPCALIB/spec/psf.fits");
  EXPECT_EQ(shorten_filename("/redux/daily/preproc/a.fits"), "SPECPROD/preproc/a.fits");
  EXPECT_EQ(shorten_filename("/elsewhere/a.fits"), "/elsewhere/a.fits");
}

TEST(SetDependency, TakesTheFirstFreeNumber) {
  HeaderCards header;
  header.set("DEPNAM00", std::string("python"));
  header.set("DEPVER00", std::string("3.11"));
  set_dependency(header, "fiberloom", "1.0");
  EXPECT_EQ(header.text("DEPNAM01"), "fiberloom");
  EXPECT_EQ(header.text("DEPVER01"), "1.0");
  set_dependency(header, "fiberloom", "1.1");
  EXPECT_EQ(header.text("DEPVER01"), "1.1");
  EXPECT_FALSE(header.text("DEPNAM02"));
}

TEST(FrameHeader, TakesTheFirstFibreFromTheFibermapElseFromTheOptions) {
  ExtractJob job;
  PreparedFrame frame;
  PsfFile psf;
  psf.model.x.coef = Array2D<double>(50, 1, 0.0);
  psf.header.set("IN_PSF", std::string("other.fits"));
  frame.in.psf = std::make_shared<const PsfFile>(std::move(psf));
  frame.options.spec_min = 7;
  const HeaderCards header = frame_header(job, frame);
  EXPECT_EQ(header.number("FIBERMIN"), 7);
  EXPECT_EQ(header.number("NSPEC"), 43);
  EXPECT_EQ(header.text("ORIG_PSF"), "other.fits");
  EXPECT_EQ(image_header(header).text("BUNIT"), "electron");
}

TEST(ResidualImage, IsZeroWhereThePixelWasNotUsed) {
  CcdFrame ccd;
  ccd.image = PixelArray(Array2D<float>(1, 2, 5.0F));
  Array2D<float> ivar(1, 2, 1.0F);
  ivar(0, 1) = 0;
  ccd.ivar = PixelArray(std::move(ivar));
  const Array2D<float> residual = residual_image(ccd, Array2D<float>(1, 2, 2.0F));
  EXPECT_EQ(residual(0, 0), 3.0F);
  EXPECT_EQ(residual(0, 1), 0.0F);
}

}  // namespace
}  // namespace fiberloom
