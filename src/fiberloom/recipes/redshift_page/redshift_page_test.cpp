// SPDX-License-Identifier: BSD-3-Clause
// What a page is made of is found, and a table alone is a page.
#include "fiberloom/recipes/redshift_page/redshift_page.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "loom/base/error.hpp"
#include "loom/testing/test_files.hpp"

namespace fiberloom::redshift_page {
namespace {

class Page : public testing::Test {
 protected:
  [[nodiscard]] std::string redshifts(const std::string& name) const {
    RedshiftFile file;
    const std::vector<std::int64_t> ids{39627788403084375, 5};
    const std::vector<double> z{0.5, 1.5};
    const std::vector<std::int32_t> zwarn{0, 4};
    const std::vector<std::string> types{"GALAXY", "</script>"};
    file.redshifts.add("TARGETID", ids).add("Z", z).add("ZWARN", zwarn).add("SPECTYPE", types, 9);
    write_redshifts(folder.file(name), file, Overwrite::kYes);
    return folder.file(name);
  }
  void touch(const std::string& name) const { std::ofstream(folder.file(name)) << "x"; }
  test::TempFolder folder;
  SerialExecutor serial;
};

TEST_F(Page, WhatLiesBesideItIsFound) {
  const std::string path = redshifts("redrock-4-80613.fits");
  EXPECT_TRUE(with_neighbours({path, {}, {}, {}}).spectra.empty());
  touch("spectra-4-80613.fits");
  EXPECT_EQ(with_neighbours({path, {}, {}, {}}).spectra.front(),
            folder.file("spectra-4-80613.fits"));
  touch("coadd-4-80613.fits");
  touch("rrmodel-4-80613.fits");
  touch("rrmodel-5-80613.fits");
  const PageInput found = with_neighbours({path, {}, {}, {}});
  EXPECT_EQ(found.spectra, (std::vector<std::string>{folder.file("coadd-4-80613.fits")}));
  EXPECT_EQ(found.model, folder.file("rrmodel-4-80613.fits"));
  EXPECT_EQ(with_neighbours({path, {"mine.fits"}, {}, "other.fits"}).model, "other.fits");
  EXPECT_TRUE(with_neighbours({path, {"-"}, {}, "-"}).spectra.empty());
  EXPECT_EQ(with_neighbours({path, {"-"}, {}, "-"}).model, "");
  EXPECT_TRUE(with_neighbours({redshifts("other.fits"), {}, {}, {}}).spectra.empty());
}

TEST_F(Page, KnowsRedshiftsFromFrames) {
  EXPECT_TRUE(is_redshift_file(redshifts("redrock-1.fits")));
  EXPECT_THROW((void)is_redshift_file(folder.file("none.fits")), Error);
}

TEST_F(Page, ATableAloneIsAPageThatSaysSoTheSameEachTime) {
  PageJob job;
  job.inputs = {{redshifts("redrock-1.fits"), {}, {}, {}}};
  const std::string page = redshift_page_html(job, serial, {});
  EXPECT_EQ(page, redshift_page_html(job, serial, {}));
  EXPECT_EQ(page.find("id=\"t0\""), std::string::npos);
  EXPECT_NE(page.find("id=\"meta\""), std::string::npos);
}

TEST_F(Page, TargetsThatAreNotThereAreNamed) {
  PageJob job;
  job.inputs = {{redshifts("redrock-1.fits"), {}, {}, {}}};
  job.target_ids = {99};
  try {
    (void)redshift_page_html(job, serial, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 22);
    EXPECT_NE(std::string(error.what()).find("redrock-1.fits"), std::string::npos);
  }
}

}  // namespace
}  // namespace fiberloom::redshift_page
