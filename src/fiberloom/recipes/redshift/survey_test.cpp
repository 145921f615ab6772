// SPDX-License-Identifier: BSD-3-Clause
// Which files are fitted together, and what their results are called.
#include "fiberloom/recipes/redshift/survey.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "loom/testing/test_files.hpp"

namespace fiberloom::survey {
namespace {

using loom::test::TempFolder;

/// Names of the inputs of each task, by its name.
std::map<std::string, std::vector<std::string>> grouped(const TempFolder& folder,
                                                        const std::vector<std::string>& names) {
  RedshiftJob job;
  job.output = folder.file("out");
  for (const std::string& name : names) job.inputs.push_back(folder.file(name));
  std::map<std::string, std::vector<std::string>> out;
  for (const Task& task : find_tasks(job)) {
    for (const std::string& path : job_of(task).inputs) {
      out[task.name].push_back(std::filesystem::path(path).filename().string());
    }
  }
  return out;
}

TEST(FindTasks, TakesTheCamerasOfAnExposureTogether) {
  const TempFolder folder;
  const auto tasks = grouped(
      folder, {"cframe-b3-00000011.fits", "cframe-z3-00000011.fits.gz", "cframe-r3-00000012.fits",
               "cframe-b4-00000011.fits", "frame-b3-00000011.fits", "sframe-b3-00000011.fits"});
  ASSERT_EQ(tasks.size(), 5U);
  EXPECT_EQ(tasks.at("cframe-3-00000011"),
            (std::vector<std::string>{"cframe-b3-00000011.fits", "cframe-z3-00000011.fits.gz"}));
  for (const char* alone :
       {"cframe-3-00000012", "cframe-4-00000011", "frame-3-00000011", "sframe-3-00000011"}) {
    EXPECT_EQ(tasks.at(alone).size(), 1U) << alone;
  }
}

TEST(FindTasks, KnowsFilesOfAFolderInLettersOfEitherCase) {
  const TempFolder folder;
  for (const char* name :
       {"coadd-0-1.FITS", "coadd-1-1.fits.GZ", "coadd-2-1.fits", "coadd-3.dat"}) {
    loom::test::write_bytes(folder.file(name), std::vector<std::uint8_t>{1});
  }
  const auto tasks = grouped(folder, {"."});
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks.at("0-1"), std::vector<std::string>{"coadd-0-1.FITS"});
  EXPECT_EQ(tasks.at("1-1"), std::vector<std::string>{"coadd-1-1.fits.GZ"});
}

TEST(FindTasks, LeavesAloneWhatIsNoNameOfAFrame) {
  const TempFolder folder;
  const std::vector<std::string> names{"cframe-x3-00000011",  "cframe-b3-0000001a", "cframe-b3-",
                                       "cframe-b33-00000011", "dframe-b3-00000011", "cframe-b",
                                       "ccframe-b3-00000011", "coadd-b3-00000011"};
  std::vector<std::string> files;
  for (const std::string& name : names) files.push_back(name + ".fits");
  const auto tasks = grouped(folder, files);
  ASSERT_EQ(tasks.size(), names.size());
  EXPECT_EQ(tasks.count("b3-00000011"), 1U) << "of a coadd";
  for (const std::string& name : names) {
    EXPECT_EQ(tasks.count(name), name.starts_with("coadd") ? 0U : 1U) << name;
  }
}

TEST(FindTasks, RefusesTwoResultsOfOneName) {
  const TempFolder folder;
  const auto thrown = loom::test::thrown_by([&] {
    (void)grouped(folder, {"coadd-1.fits", "spectra-1.fits"});
  });
  EXPECT_EQ(thrown.status, Status::kUsage);
  EXPECT_TRUE(thrown.says("would have the same name"));
}

}  // namespace
}  // namespace fiberloom::survey
