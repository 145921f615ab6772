// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/preview_scan.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tomoloom/recipes/test_recon.hpp"

namespace tomoloom {
namespace {

using loom::test::thrown_by;

class PreviewScan : public test::ReconCase {
 protected:
  PreviewSummary preview(const ReconJob& job, PreviewChoice choice = {.page = "", .every_s = 0}) {
    choice.patience_s = 5;
    pages.clear();
    return preview_scan(job, choice, serial, {},
                        [&](const std::string& page) { pages.push_back(page); });
  }
  std::vector<std::string> pages;
};

TEST_F(PreviewScan, ShowsThreePlanesOfAScanThatIsThere) {
  SimulateJob scan = small();
  scan.centre = 33.4;
  simulate(scan);
  const PreviewSummary seen = preview(recon(scan));
  EXPECT_EQ(seen.projections, 100U);
  EXPECT_EQ(seen.expected, 100U);
  EXPECT_NEAR(seen.axis, 33.4, 1e-9);
  ASSERT_FALSE(pages.empty());
  EXPECT_NE(pages.back().find(R"(["projections","100 of 100"])"), std::string::npos);
  EXPECT_EQ(pages.back().find("http-equiv=\"refresh\""), std::string::npos);
  EXPECT_NE(pages.back().find("\"title\":\"column\""), std::string::npos);
}

TEST_F(PreviewScan, FindsTheAxisWhenTheScanIsWhole) {
  SimulateJob scan = small();
  scan.columns = 128;
  scan.angles = 180;
  scan.centre = 66.8;
  simulate(scan);
  ReconJob job = recon(scan);
  job.centre.reset();
  job.search = AxisSearch::kTurn;
  EXPECT_NEAR(preview(job).axis, 66.8, 0.1);
}

TEST_F(PreviewScan, WaitsForAScanThatComesLater) {
  SimulateJob scan = small("early.h5");
  simulate(scan);
  const std::string later = folder.file("later.h5");
  ReconJob job = recon(scan);
  job.scan = later;
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::filesystem::rename(scan.output, later);
  });
  const PreviewSummary seen = preview(job);
  writer.join();
  EXPECT_EQ(seen.projections, 100U);
  EXPECT_GE(seen.first_s, 0.2);
}

TEST_F(PreviewScan, AScanThatIsNeverThereIsAnError) {
  ReconJob job{.scan = folder.file("none.h5"), .output = folder.file("volume.h5")};
  EXPECT_EQ(thrown_by([&] {
              (void)preview_scan(job, {.page = "", .patience_s = 0}, serial, {}, [](auto&) {});
            }).status,
            Status::kNotFound);
  std::filesystem::create_directory(folder.file("images"));
  job.scan = folder.file("images");
  EXPECT_EQ(thrown_by([&] { (void)preview(job); }).status, Status::kUnsupported);
}

TEST_F(PreviewScan, FramesThatAreNotWrittenYetAreNotShown) {
  const std::string path = folder.file("half.h5");
  {
    hdf5::Writer writer(path, Overwrite::kYes);
    std::vector<float> values(std::size_t{20} * 3 * 16, 0);
    std::fill_n(values.begin(), 8 * 3 * 16, 0.1F);
    writer.create("exchange/data", hdf5::Type::kFloat32, {20, 3, 16});
    writer.write("exchange/data", 0, std::span<const float>(values));
    writer.commit();
  }
  ReconJob job{.scan = path, .output = folder.file("volume.h5")};
  job.input = InputKind::kIntegrals;
  const PreviewSummary seen =
      preview_scan(job, {.page = "", .every_s = 0, .patience_s = 0.2}, serial, {},
                   [&](const std::string& page) { pages.push_back(page); });
  EXPECT_EQ(seen.projections, 8U);
  EXPECT_EQ(seen.expected, 20U);
  EXPECT_NE(pages.front().find("http-equiv=\"refresh\""), std::string::npos);
}

}  // namespace
}  // namespace tomoloom
