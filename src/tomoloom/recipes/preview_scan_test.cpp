// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/preview_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "loom/files/input_file.hpp"
#include "tomoloom/recipes/test_recon.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

using loom::test::thrown_by;

class PreviewScan : public test::ReconCase {
 protected:
  /// A file with one number a line.
  std::string numbers(const char* name, const std::vector<double>& values) const {
    std::ofstream file(folder.file(name));
    for (const double value : values) file << value << "\n";
    return folder.file(name);
  }
  /// The greatest value of the last page's planes.
  [[nodiscard]] double highest() const {
    const std::string name = "\"high\":";
    return std::stod(pages.back().substr(pages.back().find(name) + name.size()));
  }
  /// A body of value 0.1 as counts before a beam of 1000, `late` times as bright from the middle of
  /// the scan on; flats of both halves.
  std::string scan_of_two_beams(double late) const {
    constexpr std::size_t kAngles = 90, kRows = 2, kColumns = 64;
    std::vector<float> values, flats;
    for (std::size_t i = 0; i < kAngles * kRows * kColumns; ++i) {
      const double x = static_cast<double>(i % kColumns) - 31.5;
      const double path = 0.1 * 2 * std::sqrt(std::max(0.0, 400 - x * x));
      const double beam = i / (kRows * kColumns) < kAngles / 2 ? 1000 : 1000 * late;
      values.push_back(static_cast<float>(beam * std::exp(-path)));
    }
    for (std::size_t i = 0; i < 2 * kRows * kColumns; ++i) {
      flats.push_back(static_cast<float>(i < kRows * kColumns ? 1000 : 1000 * late));
    }
    hdf5::Writer writer(folder.file("beams.h5"), Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {kAngles, kRows, kColumns});
    writer.write("exchange/data", 0, std::span<const float>(values));
    writer.create("exchange/data_white", hdf5::Type::kFloat32, {2, kRows, kColumns},
                  {1, kRows, kColumns});
    writer.write("exchange/data_white", 0, std::span<const float>(flats));
    writer.commit();
    return folder.file("beams.h5");
  }
  /// Line integrals of 0.1 in the first `filled` of `frames` frames of 3 x 16, 0 in the others.
  ReconJob integrals_of(std::size_t frames, std::size_t filled) const {
    ReconJob job{.scan = folder.file("half.h5"), .output = folder.file("volume.h5")};
    job.input = InputKind::kIntegrals;
    std::vector<float> values(frames * 3 * 16, 0);
    std::fill_n(values.begin(), filled * 3 * 16, 0.1F);
    hdf5::Writer writer(job.scan, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {frames, 3, 16});
    writer.write("exchange/data", 0, std::span<const float>(values));
    writer.commit();
    return job;
  }
  PreviewSummary preview(const ReconJob& job, double patience_s = 5) {
    const PreviewChoice choice{.page = "", .every_s = 0, .patience_s = patience_s};
    pages.clear();
    return preview_scan(job, choice, serial, {},
                        [&](const std::string& page) { pages.push_back(page); });
  }
  /// As what a writer has not got to disk yet: the data set is there, what leads to its numbers is
  /// not.
  static void spoil_flats(const std::string& path) {
    std::string bytes = read_text(path, std::size_t{1} << 24);
    const std::size_t at = bytes.find(std::string("TREE\1", 5));
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, 4, 4, '\0');
    std::ofstream(path, std::ios::binary) << bytes;
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

TEST_F(PreviewScan, AnInfiniteValueIsNotTheBrightestThatStandsForFlats) {
  const auto shown = [&](float value) {
    std::vector<float> values(30 * 2 * 32, 100.0F);
    for (std::size_t i = 12; i < values.size(); i += 32) values[i] = 50;
    values[5] = value;
    ReconJob job{.scan = folder.file("odd.h5"), .output = folder.file("volume.h5")};
    {
      hdf5::Writer writer(job.scan, Overwrite::kYes);
      writer.create("exchange/data", hdf5::Type::kFloat32, {30, 2, 32});
      writer.write("exchange/data", 0, std::span<const float>(values));
      writer.commit();
    }
    (void)preview(job);
    return highest();
  };
  const double usual = shown(100);
  EXPECT_GT(usual, 0.05);
  EXPECT_NEAR(shown(INFINITY), usual, 0.01 * usual);
  EXPECT_NEAR(shown(NAN), usual, 0.01 * usual);
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

TEST_F(PreviewScan, WhatTheJobNamesBesideTheScanIsNotWaitedFor) {
  SimulateJob scan = small();
  simulate(scan);
  ReconJob job = recon(scan);
  const auto status = [&] {
    return thrown_by([&] {
             (void)preview_scan(job, {.page = "", .patience_s = 1e9}, serial, {}, [](auto&) {});
           })
        .status;
  };
  job.theta = folder.file("none.txt");
  EXPECT_EQ(status(), Status::kNotFound);
  job.theta.clear();
  std::ofstream(folder.file("axes.txt")) << "31.5\n";
  job.centres = folder.file("axes.txt");
  job.centre = 30;
  EXPECT_EQ(status(), Status::kUnsupported) << "the axis is told twice";
}

TEST_F(PreviewScan, FramesThatAreNotWrittenYetAreNotShown) {
  const PreviewSummary seen = preview(integrals_of(20, 8), 0.2);
  EXPECT_EQ(seen.projections, 8U);
  EXPECT_EQ(seen.expected, 20U);
  EXPECT_NE(pages.front().find("http-equiv=\"refresh\""), std::string::npos);
}

TEST_F(PreviewScan, AnotherScanInItsPlaceHasAnAxisOfItsOwn) {
  const ReconJob job = integrals_of(20, 8);
  const std::string next = folder.file("next.h5");
  {
    hdf5::Writer writer(next, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {20, 3, 40});
    writer.write("exchange/data", 0, std::span<const float>(std::vector<float>(20 * 3 * 40, 0.1F)));
    writer.commit();
  }
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::filesystem::rename(next, job.scan);
  });
  const PreviewSummary seen = preview(job);
  writer.join();
  EXPECT_EQ(seen.projections, 20U);
  EXPECT_NEAR(seen.axis, 19.5, 1e-9);
}

TEST_F(PreviewScan, TakesTheAnglesThatAreGivenAndLeavesOutWhatIsSkipped) {
  SimulateJob scan = small();
  simulate(scan);
  ReconJob job = recon(scan);
  job.theta = "10:109";
  job.window.skipped = {{0, 10}, {90, 100}};
  const PreviewSummary seen = preview(job);
  EXPECT_EQ(seen.projections, 80U);
  EXPECT_NE(pages.back().find(R"(["projections","80 of 80"])"), std::string::npos);
  EXPECT_NE(pages.back().find(R"(["angles","20 to 99 degrees"])"), std::string::npos);
  job.theta = numbers("few.txt", {1, 2, 3});
  EXPECT_EQ(thrown_by([&] { (void)preview(job); }).status, kScanMismatch);
}

TEST_F(PreviewScan, ProjectionsOfAGrowingScanThatAreSkippedMayBeToCome) {
  ReconJob job = integrals_of(8, 8);
  job.theta = numbers("twenty.txt", std::vector<double>(20, 1));
  job.window.skipped = {{2, 4}, {12, 14}};
  PreviewSummary seen = preview(job, 0.2);
  EXPECT_EQ(seen.projections, 6U);
  EXPECT_EQ(seen.expected, 16U);
  job.window.skipped = {{0, 12}};  // nothing that is there is wanted
  seen = preview(job, 0.2);
  EXPECT_EQ(seen.projections, 0U);
}

TEST_F(PreviewScan, MovesProjectionsAndLeaningAxesBeforeItLooksForTheAxis) {
  SimulateJob scan = small();
  scan.columns = 128;
  scan.angles = 180;
  scan.centre = 66.8;
  simulate(scan);
  ReconJob job = recon(scan);
  job.centre.reset();
  job.search = AxisSearch::kTurn;
  job.shifts = numbers("shifts.txt", std::vector<double>(180, 3));
  EXPECT_NEAR(preview(job).axis, 69.8, 0.1);
  job.search = AxisSearch::kNone;
  job.centre = 60;
  job.centre_last = 73.6;
  EXPECT_NEAR(preview(job).axis, 66.8, 1e-9);
}

TEST_F(PreviewScan, ProjectionsCountAsTheirWeightsSay) {
  SimulateJob scan = small();
  simulate(scan);
  ReconJob job = recon(scan);
  preview(job);
  const double clean = highest();
  std::vector<double> weights(100, 1), shifts(100, 0);
  for (std::size_t a = 0; a < 100; a += 2) weights[a] = 0, shifts[a] = 9;  // those that moved
  job.shifts = numbers("shifts.txt", shifts);
  preview(job);
  EXPECT_GT(std::abs(highest() / clean - 1), 0.2);
  job.weights = numbers("weights.txt", weights);
  preview(job);
  EXPECT_NEAR(highest() / clean, 1, 0.1);
}

TEST_F(PreviewScan, EachProjectionHasItsOwnFlats) {
  ReconJob job{.scan = scan_of_two_beams(1), .output = folder.file("volume.h5")};
  preview(job);
  const double clean = highest();
  job.scan = scan_of_two_beams(2);
  preview(job);
  EXPECT_GT(std::abs(highest() / clean - 1), 0.005);
  job.flats_at = {0, 90};
  preview(job);
  EXPECT_NEAR(highest() / clean, 1, 1e-3);
}

TEST_F(PreviewScan, AnglesThatComeAfterTheProjectionsCountForAll) {
  const auto with_angles = [&](const char* name, std::size_t filled, double step) {
    ReconJob job{.scan = folder.file(name), .output = folder.file("volume.h5")};
    job.input = InputKind::kIntegrals;
    std::vector<float> values(20 * 3 * 16, 0);
    std::fill_n(values.begin(), filled * 3 * 16, 0.1F);
    std::vector<double> theta;
    for (int a = 0; a < 20; ++a) theta.push_back(step * a);
    hdf5::Writer writer(job.scan, Overwrite::kYes);
    writer.create("exchange/data", hdf5::Type::kFloat32, {20, 3, 16});
    writer.write("exchange/data", 0, std::span<const float>(values));
    writer.create("exchange/theta", hdf5::Type::kFloat64, {20});
    writer.write("exchange/theta", 0, std::span<const double>(theta));
    writer.commit();
    return job;
  };
  const ReconJob whole = with_angles("whole.h5", 20, 9), early = with_angles("early.h5", 8, 0);
  preview(whole);
  const double want = highest();
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::filesystem::rename(whole.scan, early.scan);
  });
  EXPECT_EQ(preview(early).projections, 20U);
  writer.join();
  EXPECT_EQ(highest(), want);
}

TEST_F(PreviewScan, WhatDoesNotGoTogetherIsToldBeforeTheScanIsThere) {
  ReconJob job{.scan = folder.file("none.h5"), .output = folder.file("volume.h5")};
  job.input = InputKind::kIntegrals;
  job.outlier = 0.1;
  EXPECT_EQ(thrown_by([&] { (void)preview(job, 1e9); }).status, Status::kUnsupported);
  job.outlier = 0;
  job.flats_at = {0, 4};
  EXPECT_EQ(thrown_by([&] { (void)preview(job, 1e9); }).status, Status::kUnsupported);
  job.flats_at.clear();
  job.tilt_deg = 3;
  job.method = Method::kGridrec;
  EXPECT_EQ(thrown_by([&] { (void)preview(job, 1e9); }).status, Status::kUnsupported);
}

TEST_F(PreviewScan, FlatsThatCannotBeReadYetAreReadWhenTheyCan) {
  const std::string path = scan_of_two_beams(1), good = folder.file("good.h5");
  std::filesystem::copy_file(path, good);
  spoil_flats(path);
  const ReconJob job{.scan = path, .output = folder.file("volume.h5")};
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::filesystem::rename(good, path);
  });
  const PreviewSummary seen = preview(job);
  writer.join();
  EXPECT_EQ(seen.projections, 90U);
  EXPECT_NEAR(highest(), 0.1, 0.02);
}

}  // namespace
}  // namespace tomoloom
