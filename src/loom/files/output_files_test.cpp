// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/output_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "loom/testing/test_files.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using test::thrown_by;
const std::vector<std::uint8_t> kByte{1};

TEST(HasEnding, KnowsLettersOfEitherCase) {
  for (const char* name : {"a.gz", "a.GZ", "a.Gz", ".gz", "b/a.fits.gZ"}) {
    EXPECT_TRUE(has_ending(name, ".gz")) << name;
  }
  for (const char* name : {"", "gz", "a.gz2", "a.gz/b", "agz", "a.fits"}) {
    EXPECT_FALSE(has_ending(name, ".gz")) << name;
  }
}

TEST(FileIdentity, IsOneForAllNamesOfAFile) {
  const TempFolder folder;
  const std::string file = folder.file("a"), hard = folder.file("hard"), link = folder.file("link");
  test::write_bytes(file, kByte);
  ASSERT_EQ(::link(file.c_str(), hard.c_str()), 0);
  ASSERT_EQ(::symlink("hard", link.c_str()), 0);

  const FileIdentity identity = file_identity(file);

  for (const std::string& name :
       {hard, link, folder.file("./a"), folder.file("none/../a"), fs::relative(file).string()}) {
    EXPECT_EQ(file_identity(name), identity) << name;
  }
  EXPECT_FALSE(file_identity(folder.file("b")) == identity);
}

TEST(FileIdentity, IsOneForAllNamesOfAFileThatIsNotThere) {
  const TempFolder folder;
  ASSERT_EQ(::symlink("new/a", folder.file("link").c_str()), 0);
  ASSERT_EQ(::symlink(".", folder.file("self").c_str()), 0);

  const FileIdentity identity = file_identity(folder.file("new/a"));

  for (const std::string& name : {folder.file("new/./a"), folder.file("new/x/../a"),
                                  folder.file("link"), folder.file("self/new/a")}) {
    EXPECT_EQ(file_identity(name), identity) << name;
  }
  EXPECT_FALSE(file_identity(folder.file("a")) == identity);
  EXPECT_FALSE(file_identity(folder.file("new/b")) == identity);
}

TEST(CheckOutput, ReplacesFilesAloneAndThemOnlyWhereAsked) {
  const TempFolder folder;
  const std::string file = folder.file("a"), link = folder.file("link"), pipe = folder.file("pipe");
  test::write_bytes(file, kByte);
  ASSERT_EQ(::symlink("a", link.c_str()), 0);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);

  for (const std::string& name : {file, link}) {
    EXPECT_NO_THROW(check_output(name, Overwrite::kYes)) << name;
    EXPECT_EQ(thrown_by([&] { check_output(name, Overwrite::kNo); }).status, Status::kOutputExists);
  }
  for (const std::string& name : {pipe, folder.path().string(), std::string("/dev/null")}) {
    EXPECT_EQ(thrown_by([&] { check_output(name, Overwrite::kYes); }).status, Status::kUnwritable)
        << name;
  }
  for (const std::string& name : {folder.file("new/"), folder.file("new/.."), folder.file("."),
                                  folder.file("b/./"), std::string("..")}) {
    EXPECT_EQ(thrown_by([&] { check_output(name, Overwrite::kYes); }).status, Status::kUnwritable)
        << name;
  }
  for (const std::string& name : {folder.file("b"), folder.file("new/b"), std::string()}) {
    EXPECT_NO_THROW(check_output(name, Overwrite::kNo)) << name;
  }
  EXPECT_EQ(thrown_by([&] { check_output(file + "/b", Overwrite::kYes); }).status,
            Status::kUnwritable);
}

TEST(FolderOf, TakesTheEmptyFoldersThatItMadeWithIt) {
  const TempFolder folder;
  fs::create_directory(folder.file("mine"));
  for (const char* name : {"mine/new/further/out", "mine/out", "new/out"}) {
    const FolderOf made(folder.file(name));
    EXPECT_TRUE(fs::is_directory(parent_of(folder.file(name)))) << name;
  }
  EXPECT_TRUE(fs::is_empty(folder.file("mine")));
  EXPECT_EQ(folder.count(), 1U);
  {
    const FolderOf made(folder.file("full/further/out"));
    test::write_bytes(folder.file("full/in"), kByte);
  }
  EXPECT_TRUE(fs::exists(folder.file("full/in")));
  EXPECT_FALSE(fs::exists(folder.file("full/further")));
}

TEST(FollowLinks, StopsInACircleAndAtWhatIsNoLink) {
  const TempFolder folder;
  const std::string a = folder.file("a"), b = folder.file("b");
  ASSERT_EQ(::symlink("b", a.c_str()), 0);
  EXPECT_EQ(fs::path(follow_links(a)).lexically_normal(), b);

  ASSERT_EQ(::symlink("a", b.c_str()), 0);
  EXPECT_FALSE(follow_links(a).empty());
}

TEST(CheckDistinct, NamesBothSidesOfAClash) {
  const TempFolder folder;
  const std::string in = folder.file("in.fits");
  test::write_bytes(in, kByte);
  const std::array<NamedFile, 1> inputs{{{"image", in}}};

  const std::array<NamedFile, 1> over{{{"--json", folder.file("./in.fits")}}};
  const auto thrown = thrown_by([&] { check_distinct(over, inputs); });
  EXPECT_EQ(thrown.status, Status::kUsage);
  EXPECT_TRUE(thrown.says("--json") && thrown.says("is an input") && thrown.says("image"));

  const std::array<NamedFile, 2> twice{
      {{"frame", folder.file("o")}, {"model", folder.file("./o")}}};
  EXPECT_TRUE(thrown_by([&] { check_distinct(twice, inputs); }).says("two different outputs"));
}

TEST(CheckDistinct, TakesAnInputForWhatIsReadInItsPlace) {
  const TempFolder folder;
  test::write_bytes(folder.file("in.fits.gz"), kByte);
  const std::array<NamedFile, 1> inputs{{{"image", folder.file("in.fits")}}};
  const std::array<NamedFile, 1> outputs{{{"frame", folder.file("in.fits.gz")}}};
  EXPECT_EQ(thrown_by([&] { check_distinct(outputs, inputs); }).status, Status::kUsage);

  const std::array<NamedFile, 1> other{{{"frame", folder.file("in.fits")}}};  // beside it
  EXPECT_NO_THROW(check_distinct(other, inputs));
}

TEST(CheckDistinct, SeesWhatIsReadOfFolders) {
  const test::TempFolder folder;
  fs::create_directory(folder.file("images"));
  for (const char* name : {"images/a.TIF", "images/page.html"})
    std::ofstream(folder.file(name)) << "x";
  const std::vector<NamedFile> given{{"the scan", folder.file("images")}, {"none", ""}};
  constexpr std::string_view kEndings[] = {".tif", ".tiff"};
  const std::vector<NamedFile> inputs = with_files_of_folders(given, kEndings);
  const std::vector<NamedFile> image{{"--json", folder.file("images/../images/a.TIF")}};
  EXPECT_TRUE(thrown_by([&] { check_distinct(image, inputs); }).says("is an input (the scan"));
  const std::vector<NamedFile> page{{"-o", folder.file("images/page.html")}};
  EXPECT_NO_THROW(check_distinct(page, inputs));
}

TEST(CheckDistinct, LeavesStreamsAndWhatIsNotAskedForAlone) {
  const std::array<NamedFile, 5> outputs{
      {{"a", "-"}, {"b", "-"}, {"c", "/dev/null"}, {"d", "/dev/null"}, {"e", ""}}};
  EXPECT_NO_THROW(check_distinct(outputs, outputs));
}

TEST(CheckPlace, TakesAFolderThatCanBeMadeAndNoOther) {
  const TempFolder folder;
  test::write_bytes(folder.file("file"), kByte);
  EXPECT_NO_THROW(check_place(folder.file("a/b/c")));
  EXPECT_NO_THROW(check_place("x"));
  EXPECT_EQ(thrown_by([&] { check_place(folder.file("file/c")); }).status, Status::kUnwritable);
  EXPECT_TRUE(thrown_by([&] { check_place(folder.file("file/b/c")); }).says("is no folder"));
}

TEST(WriteStatus, KnowsAFullDisk) {
  EXPECT_EQ(write_status(ENOSPC), Status::kDiskFull);
  EXPECT_EQ(write_status(EDQUOT), Status::kDiskFull);
  EXPECT_EQ(write_status(EACCES), Status::kUnwritable);
}

TEST(CheckOutput, ClearsWhatAKilledRunLeft) {
  const TempFolder folder;
  const std::string path = folder.file("out"), other = folder.file("other");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile named(path, Overwrite::kYes), beside(other, Overwrite::kYes);
    static_cast<void>(named.place());  // as a library has them
    static_cast<void>(beside.place());
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(folder.count(), 2U);

  check_output(path, Overwrite::kYes);

  ASSERT_EQ(folder.count(), 1U);
  const std::string left = fs::directory_iterator(folder.path())->path().filename();
  EXPECT_TRUE(left.starts_with("other.tmp-")) << left;
}

}  // namespace
}  // namespace loom
