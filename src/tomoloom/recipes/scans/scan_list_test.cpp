// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/scans/scan_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "loom/testing/test_files.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/scans/scan_kind.hpp"

namespace tomoloom::scans {
namespace {

using loom::test::thrown_by;

TEST(ScanList, ALineIsAScanAndWhereWantedItsAxis) {
  const auto found = parse_scan_list(
      "# morning\n\na.h5\n  sub/b.h5\t515.4 # leans? no\r\n/c.h5 auto\nlast.h5", "l.txt", "in");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].path, "in/a.h5");
  EXPECT_EQ(found[0].axis, "");
  EXPECT_EQ(found[1].path, "in/sub/b.h5");
  EXPECT_EQ(found[1].axis, "515.4");
  EXPECT_EQ(found[2].path, "/c.h5");
  EXPECT_EQ(found[2].axis, "auto");
  EXPECT_EQ(found[3].path, "in/last.h5");
  const auto thrown = thrown_by([] { (void)parse_scan_list("a\n\nb c d\n", "l.txt", ""); });
  EXPECT_EQ(thrown.status, Status::kUsage);
  EXPECT_TRUE(thrown.says("l.txt: line 3: found 3 words")) << thrown.message;
}

TEST(ScanList, EndingsAreKnownInLettersOfEitherCase) {
  const loom::test::TempFolder folder;
  for (const char* name : {"a.h5", "b.H5", "c.HDF5", "d.Nxs", "e_rec.H5", "f.txt"}) {
    std::ofstream(folder.file(name)) << name;
  }
  std::vector<std::string> names;
  for (const FoundScan& scan : find_scans({folder.path().string()})) {
    names.push_back(std::filesystem::path(scan.path).filename().string());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a.h5", "b.H5", "c.HDF5", "d.Nxs"}));
  std::ofstream(folder.file("L.TXT")) << "a.h5\n";
  EXPECT_EQ(find_scans({folder.file("L.TXT")}).front().path, folder.file("a.h5"));
}

TEST(ScanList, ANameWithBlanksStandsInQuotes) {
  const auto found = parse_scan_list("\"a b/c #1.h5\" 23.5\n\"d e.h5\"\n", "l.txt", "in");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].path, "in/a b/c #1.h5");
  EXPECT_EQ(found[0].axis, "23.5");
  EXPECT_EQ(found[1].path, "in/d e.h5");
  for (const char* text : {"a\n\"b c.h5 5\n", "a\n\"\" 5\n", "a\n\"b\" 5 6\n"}) {
    const auto thrown = thrown_by([&] { (void)parse_scan_list(text, "l.txt", "in"); });
    EXPECT_EQ(thrown.status, Status::kUsage);
    EXPECT_TRUE(thrown.says("l.txt: line 2: ")) << thrown.message;
  }
}

TEST(ScanList, AnyTextIsAListOrOneError) {
  std::mt19937 random(7);
  const std::string letters =
      "ab/.# \"\t\n\r\v\0\xff"
      "5";
  std::size_t lists = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 60, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    try {
      for (const FoundScan& scan : parse_scan_list(text, "l.txt", "in")) {
        EXPECT_FALSE(scan.path.empty());
      }
      ++lists;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
    }
  }
  EXPECT_GT(lists, 100U);
  EXPECT_LT(lists, 2000U);
}

TEST(ScanList, AFolderIsOneOfScansWhereItHasNoImages) {
  const loom::test::TempFolder folder;
  const auto put = [&](const std::string& name) {
    std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
    std::ofstream(folder.file(name)) << "x";
  };
  put("in/b/two.hdf5");
  put("in/one.h5");
  put("in/one_rec.h5");  // a volume
  put("in/b/notes.txt");
  put("stack/p_1.tif");
  put("stack/b/one.h5");
  put("empty/readme");
  EXPECT_TRUE(are_many({folder.file("in")}));
  EXPECT_FALSE(are_many({folder.file("stack")}));
  EXPECT_FALSE(are_many({folder.file("empty")}));
  EXPECT_FALSE(are_many({folder.file("in/one.h5")}));
  EXPECT_TRUE(are_many({"a.h5", "b.h5"}));
  EXPECT_TRUE(are_many({"scans.txt"}));
  const auto found = find_scans({folder.file("in"), folder.file("stack")});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].path, folder.file("in/b/two.hdf5"));
  EXPECT_EQ(found[0].below, "b");
  EXPECT_EQ(found[1].path, folder.file("in/one.h5"));
  EXPECT_EQ(volume_name(found[0].path), "two_rec");
  EXPECT_EQ(volume_name(found[2].path), "stack_rec");
  EXPECT_EQ(volume_name(folder.file("stack") + "/"), "stack_rec");
}

TEST(ScanList, LinksInCirclesEndAndWhatLiesElsewhereStaysBelowItsName) {
  const loom::test::TempFolder folder;
  std::filesystem::create_directories(folder.file("in/b"));
  std::filesystem::create_directories(folder.file("elsewhere"));
  std::ofstream(folder.file("in/b/one.h5")) << "x";
  std::ofstream(folder.file("elsewhere/two.h5")) << "x";
  std::filesystem::create_symlink("..", folder.file("in/b/up"));
  std::filesystem::create_symlink("../elsewhere", folder.file("in/c"));
  for (const char* end : {"", "/"}) {
    const auto found = find_scans({folder.file("in") + end});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].below, "b");
    EXPECT_EQ(found[1].path, folder.file("in/c/two.h5"));
    EXPECT_EQ(found[1].below, "c");
  }
}

TEST(ScanKind, FilesOfNumbersAreInputs) {
  const loom::test::TempFolder folder;
  ReconJob job{.scan = folder.file("a.h5"), .output = folder.file("a_rec.h5")};
  for (std::string* path :
       {&job.theta, &job.shifts, &job.weights, &job.centres, &job.filter_weights}) {
    *path = folder.file("numbers");
    std::ofstream(*path) << "1\n";
    const Task task = to_task("a", job, 1);
    EXPECT_NE(std::ranges::find(task.inputs, *path), task.inputs.end());
    path->clear();
  }
}

TEST(ScanKind, EveryOptionOfAJobTravels) {
  ReconJob job{.scan = "/in/a.h5", .output = "/out/a_rec.h5"};
  job.centre = 10.25;
  job.centre_last = 11;
  job.stripe.method = Stripe::kSorting;
  const Task task = to_task("a", job, 1);
  EXPECT_EQ(job_of(task).scan, "/in/a.h5");
  const ScanKind kind;
  WireWriter writer;
  kind.send(writer, *task.content);
  const Bytes bytes = writer.take();
  WireReader reader(bytes);
  Task back;
  back.content = kind.receive(reader);
  reader.finish();
  EXPECT_EQ(option_texts(recon_option_rows(), job_of(back)),
            option_texts(recon_option_rows(), job));
  EXPECT_EQ(job_of(back).output, job.output);
  EXPECT_EQ(kind.fingerprint(back), kind.fingerprint(task));
  job.mask = 0.5;
  EXPECT_NE(kind.fingerprint(to_task("a", job, 1)), kind.fingerprint(task));
}

}  // namespace
}  // namespace tomoloom::scans
