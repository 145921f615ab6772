// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/spectra_reader.hpp"

#include <gtest/gtest.h>

#include "fiberloom/formats/formats_test_support.hpp"
#include "fiberloom/status.hpp"

namespace fiberloom {
namespace {

SpectraReader reader_of(const test::Build& build) { return SpectraReader(test::in_memory(build)); }

TEST(SpectraReader, RowsAreThoseOfTheWholeFile) {
  const SpectraFile whole = formats::parse_spectra(test::in_memory(test::add_coadd));
  const SpectraReader reader = reader_of(test::add_coadd);
  ASSERT_EQ(reader.cameras().size(), whole.cameras.size());
  EXPECT_EQ(reader.nspec(), whole.nspec());
  EXPECT_EQ(reader.fibermap->rows, 3U);
  EXPECT_EQ(reader.exp_fibermap->rows, 5U);
  for (std::size_t c = 0; c < whole.cameras.size(); ++c) {
    const Spectra& expected = whole.cameras[c].spectra;
    EXPECT_EQ(reader.cameras()[c].name, whole.cameras[c].name);
    for (const std::vector<std::size_t>& rows :
         {std::vector<std::size_t>{0, 1, 2}, {2}, {2, 0, 1}, {1, 1}, {}}) {
      const Spectra found = reader.read(c, rows);
      ASSERT_EQ(found.nspec(), rows.size());
      EXPECT_EQ(found.wave, expected.wave);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t j = 0; j < expected.nwave(); ++j) {
          EXPECT_EQ(found.flux(r, j), expected.flux(rows[r], j));
          EXPECT_EQ(found.ivar(r, j), expected.ivar(rows[r], j));
          EXPECT_EQ(found.mask(r, j), expected.mask(rows[r], j));
          for (std::size_t k = 0; k < expected.resolution.rows(); ++k) {
            EXPECT_EQ(found.resolution(r, k, j), expected.resolution(rows[r], k, j));
          }
        }
      }
    }
  }
}

TEST(SpectraReader, TakesTheFrameOfOneCamera) {
  const test::TempFolder folder;
  const std::string path = folder.file("frame.fits.gz");
  FrameFile frame = test::sample_frame(4, 12);
  frame.header.set("CAMERA", "z7");
  write_frame(path, frame, Overwrite::kYes);
  const SpectraReader reader(path);
  ASSERT_EQ(reader.cameras().size(), 1U);
  EXPECT_EQ(reader.cameras()[0].name, "Z");
  EXPECT_EQ(reader.cameras()[0].ndiag, frame.resolution.rows());
  const std::vector<std::size_t> rows{3};
  EXPECT_EQ(reader.read(0, rows).flux(0, 5), static_cast<float>(frame.flux(3, 5)));
}

TEST(SpectraReader, FaultsAreNamed) {
  const auto none = test::thrown_by([] {
    (void)reader_of([](fits::FitsWriter& w) { test::add_image(w, "X", {4, 2}); });
  });
  EXPECT_EQ(none.status, Status::kMissingHdu);
  const auto rows = test::thrown_by([] {
    (void)reader_of([](fits::FitsWriter& w) {
      test::add_camera(w, "B", 3600, 2, 4);
      test::add_camera(w, "R", 5600, 3, 4);
    });
  });
  EXPECT_EQ(rows.status, Status::kWrongShape);
  EXPECT_EQ(rows.message, "test.fits: HDU 6 'R_FLUX': 3 spectra, but B_FLUX has 2");
  const SpectraReader reader = reader_of(test::add_coadd);
  const std::vector<std::size_t> beyond{3};
  EXPECT_EQ(test::thrown_by([&] { (void)reader.read(0, beyond); }).status, kFiberRange);
}

}  // namespace
}  // namespace fiberloom
