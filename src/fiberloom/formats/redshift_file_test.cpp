// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/redshift_file.hpp"

#include <gtest/gtest.h>

#include "fiberloom/formats/formats_test_support.hpp"

namespace fiberloom {
namespace {

RedshiftFile sample() {
  RedshiftFile out;
  const std::vector<std::int64_t> ids{39627788403084375, -12, 3};
  const std::vector<double> z{0.5, 1.25, 0};
  const std::vector<std::int32_t> zwarn{0, 4, 512};
  out.redshifts.add("TARGETID", std::span(ids))
      .add("Z", std::span(z))
      .add("ZWARN", std::span(zwarn));
  out.fibermap = to_table(test::sample_fibermap(3));
  out.exp_fibermap = to_table(test::sample_fibermap(7));
  out.tsnr2 = Table();
  out.tsnr2->add("TARGETID", std::span(ids));
  out.header.set("TEMNAM00", "GALAXY");
  return out;
}

test::Thrown reading(const test::Build& build) {
  return test::thrown_by([&] { (void)formats::parse_redshifts(test::in_memory(build)); });
}

TEST(RedshiftFile, ComesBackAsItWasWritten) {
  const test::TempFolder folder;
  const std::string path = folder.file("redrock.fits");
  write_redshifts(path, sample(), Overwrite::kYes);
  const RedshiftFile back = read_redshifts(path);

  EXPECT_EQ(back.header.text("TEMNAM00"), "GALAXY");
  EXPECT_EQ(back.redshifts.integers("TARGETID", 0),
            (std::vector<std::int64_t>{39627788403084375, -12, 3}));
  EXPECT_EQ(back.redshifts.column("Z"), (std::vector<double>{0.5, 1.25, 0}));
  EXPECT_EQ(back.fibermap->rows, 3U);
  EXPECT_EQ(back.exp_fibermap->rows, 7U);
  EXPECT_EQ(back.tsnr2->rows, 3U);
  EXPECT_EQ(list_hdus(path).at(1).name, "REDSHIFTS");
}

TEST(RedshiftFile, ModelsStandBesideTheirRedshifts) {
  const test::TempFolder folder;
  const std::string path = folder.file("models.fits");
  const std::vector<float> models{1, 2, 3, 4, 5, 6};
  const std::vector<ModelCamera> cameras{{"B", {3600, 3601}, models}};
  write_models(path, {}, sample().redshifts, cameras, Overwrite::kYes);
  const auto hdus = list_hdus(path);
  ASSERT_EQ(hdus.size(), 4U);
  EXPECT_EQ(hdus[2].name + " " + hdus[3].name, "B_WAVELENGTH B_MODEL");
  EXPECT_EQ(read_image(path, "B_MODEL").pixels(2, 1), 6.0F);
}

TEST(RedshiftFile, WhatIsMissingIsNamed) {
  const auto no_hdu = reading([](fits::FitsWriter& w) { test::add_image(w, "FLUX", {4, 2}); });
  EXPECT_EQ(no_hdu.status, Status::kMissingHdu);
  const auto no_column = reading([](fits::FitsWriter& w) {
    const std::vector<double> z{1, 2};
    w.table("REDSHIFTS", fits::TableBuilder(2).add("Z", z).build());
  });
  EXPECT_EQ(no_column.status, Status::kMissingKeyword);
  EXPECT_EQ(no_column.message,
            "test.fits: HDU 1 'REDSHIFTS': no column TARGETID of single numbers");
  const auto lost = reading([](fits::FitsWriter& w) {
    const std::vector<double> id{1, 0x1p53, 3}, z{1, 2, 3};
    w.table("REDSHIFTS",
            fits::TableBuilder(3).add("TARGETID", id).add("Z", z).add("ZWARN", z).build());
  });
  EXPECT_EQ(lost.status, Status::kCorrupt);
  EXPECT_TRUE(lost.says("lost digits of 9007199254740992")) << lost.message;
  const auto rows = reading([](fits::FitsWriter& w) {
    w.table("REDSHIFTS", to_raw_table(sample().redshifts));
    w.table("FIBERMAP", test::sample_fibermap(2));
  });
  EXPECT_EQ(rows.status, Status::kWrongShape);
  EXPECT_EQ(rows.message,
            "test.fits: HDU 2 'FIBERMAP': 2 rows, expected one for each of 3 targets");
}

}  // namespace
}  // namespace fiberloom
