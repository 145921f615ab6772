// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "loom/testing/test_files.hpp"

namespace loom {
namespace {

using test::FileSizeLimit;
using test::TempFolder;
using test::thrown_by;
const std::vector<std::uint8_t> kOld{1, 2, 3}, kNew{4, 5, 6, 7};

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  AtomicFile file(path, Overwrite::kYes);
  file.write_at(0, kNew);
  EXPECT_FALSE(std::filesystem::exists(path));

  file.commit();

  EXPECT_EQ(test::read_bytes(path), kNew);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(FilesTogether, GetTheirNamesWhenAllAreWholeOrNever) {
  const TempFolder folder;
  const std::string a = folder.file("a"), b = folder.file("b");
  const auto write = [&](FilesTogether& together) {
    for (const std::string& path : {a, b}) {
      AtomicFile file(path, Overwrite::kYes);
      if (path == b) static_cast<void>(file.place());  // with a temporary name
      file.write_at(0, kNew);
      file.commit(&together);
    }
    EXPECT_EQ(test::read_bytes(a), kOld);
    EXPECT_FALSE(std::filesystem::exists(b));
  };
  test::write_bytes(a, kOld);
  {
    FilesTogether dropped;
    write(dropped);
  }
  EXPECT_EQ(test::read_bytes(a), kOld);
  EXPECT_EQ(folder.count(), 1U);

  FilesTogether together;
  write(together);
  together.commit();

  EXPECT_EQ(test::read_bytes(a), kNew);
  EXPECT_EQ(test::read_bytes(b), kNew);
  EXPECT_EQ(folder.count(), 2U);
}

TEST(FilesTogether, AreGoneAgainWhereOneOfThemCannotHaveItsName) {
  const TempFolder folder;
  const std::string a = folder.file("a"), b = folder.file("b"), c = folder.file("c");
  FilesTogether together;
  for (const std::string& path : {a, b, c}) {
    AtomicFile file(path, Overwrite::kNo);
    file.write_at(0, kNew);
    file.commit(&together);
  }
  test::write_bytes(b, kOld);  // of a run beside it

  EXPECT_EQ(thrown_by([&] { together.commit(); }).status, Status::kOutputExists);

  EXPECT_EQ(test::read_bytes(b), kOld);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, MakesItsFolderAgainWhereARunBesideItTookItAway) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.file("made"));
  const std::string path = folder.file("made/out");
  AtomicFile file(path, Overwrite::kYes);
  file.write_at(0, kNew);
  std::error_code taken;
  std::filesystem::remove(folder.file("made"), taken);
  if (taken) GTEST_SKIP() << "no files without a name here, so the folder is not empty";
  file.commit();
  EXPECT_EQ(test::read_bytes(path), kNew);
}

TEST(FilesTogether, OfAnyNumberTakeFewDescriptors) {
  constexpr std::size_t kMany = FilesTogether::kMostOpen + 40;
  const TempFolder folder;
  const auto name = [&](std::size_t i) { return folder.file("f" + std::to_string(i)); };
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(next);
  few.rlim_cur = static_cast<rlim_t>(next) + FilesTogether::kMostOpen + 4;
  const auto write = [&](FilesTogether& together) {
    for (std::size_t i = 0; i < kMany; ++i) {
      AtomicFile file(name(i), Overwrite::kYes);
      file.write_at(0, kNew);
      file.commit(&together);
    }
  };
  test::write_bytes(name(0), kOld);
  ::setrlimit(RLIMIT_NOFILE, &few);
  {
    FilesTogether dropped;
    write(dropped);
  }
  EXPECT_EQ(folder.count(), 1U);

  FilesTogether together;
  write(together);
  together.commit();
  ::setrlimit(RLIMIT_NOFILE, &before);

  EXPECT_EQ(folder.count(), kMany);
  for (std::size_t i = 0; i < kMany; ++i) EXPECT_EQ(test::read_bytes(name(i)), kNew);
}

TEST(AtomicFile, DroppedWithoutCommitLeavesTheOldFileAndNothingElse) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  test::write_bytes(path, kOld);
  {
    AtomicFile file(path, Overwrite::kYes);
    file.write_at(0, kNew);
  }

  EXPECT_EQ(test::read_bytes(path), kOld);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, RefusesAnExistingFileWithNoClobber) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  test::write_bytes(path, kOld);

  const auto thrown = thrown_by([&] { AtomicFile(path, Overwrite::kNo); });

  EXPECT_EQ(thrown.status, Status::kOutputExists);
  EXPECT_TRUE(thrown.says(path));
}

TEST(AtomicFile, NoClobberAlsoRefusesAFileThatCameMeanwhile) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  {
    AtomicFile file(path, Overwrite::kNo);
    file.write_at(0, kNew);
    test::write_bytes(path, kOld);

    EXPECT_EQ(thrown_by([&] { file.commit(); }).status, Status::kOutputExists);
  }
  EXPECT_EQ(test::read_bytes(path), kOld);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, SaysThatAFolderDoesNotExist) {
  const TempFolder folder;

  const auto thrown = thrown_by([&] { AtomicFile(folder.file("none/out"), Overwrite::kYes); });

  EXPECT_EQ(thrown.status, Status::kUnwritable);
  EXPECT_TRUE(thrown.says("No such file or directory"));
}

TEST(AtomicFile, SaysThatAFolderIsNotWritable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  const TempFolder folder;
  ::chmod(folder.path().c_str(), 0500);

  const auto thrown = thrown_by([&] { AtomicFile(folder.file("out"), Overwrite::kYes); });

  ::chmod(folder.path().c_str(), 0700);
  EXPECT_EQ(thrown.status, Status::kUnwritable);
}

TEST(AtomicFile, RefusesAReadOnlyFileSystem) {
  if (::access("/proc/sys", F_OK) != 0) GTEST_SKIP() << "no /proc";

  EXPECT_EQ(thrown_by([] { AtomicFile("/proc/fiberloom-out", Overwrite::kYes); }).status,
            Status::kUnwritable);
}

TEST(AtomicFile, RefusesAFolderAndAFifoAsOutput) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);

  EXPECT_EQ(thrown_by([&] { AtomicFile(folder.path().string(), Overwrite::kYes); }).status,
            Status::kUnwritable);
  EXPECT_EQ(thrown_by([&] { AtomicFile(folder.file("fifo"), Overwrite::kYes); }).status,
            Status::kUnwritable);
}

TEST(AtomicFile, AFullDeviceIsDiskFull) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";

  const auto thrown = thrown_by([] {
    AtomicFile file("/dev/full", Overwrite::kYes);
    file.write_at(0, kNew);
    file.commit();
  });

  EXPECT_EQ(thrown.status, Status::kDiskFull);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(AtomicFile, DiskFullLeavesTheOldFileAndNoTemporary) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  test::write_bytes(path, kOld);
  const std::vector<std::uint8_t> big(100000, 7);

  const auto thrown = thrown_by([&] {
    const FileSizeLimit limit(65536);
    AtomicFile file(path, Overwrite::kYes);
    file.write_at(0, big);
    file.commit();
  });

  EXPECT_EQ(thrown.status, Status::kDiskFull);
  EXPECT_EQ(test::read_bytes(path), kOld);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, TreatsBracketsAndPlusAsPartsOfTheName) {
  const TempFolder folder;
  const std::string path = folder.file("a[1](2)+3!.fits");
  AtomicFile file(path, Overwrite::kYes);
  file.write_at(0, kNew);

  file.commit();

  EXPECT_EQ(test::read_bytes(path), kNew);
}

/// A child that starts to write `path` and is killed.
void die_while_writing(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(path, Overwrite::kYes);
    file.write_at(0, kNew);
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(AtomicFile, AKilledWriterLeavesNothingThatTheNextDoesNotRemove) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  die_while_writing(path);
  test::write_bytes(path, kOld);
  die_while_writing(path);

  remove_dead_temporaries(std::array{path});

  EXPECT_EQ(test::read_bytes(path), kOld);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, ANameAsLongAsNamesMayBeIsReplacedAndItsRemainsAreFound) {
  const TempFolder folder;
  const std::string path = folder.file(std::string(NAME_MAX, 'n'));
  test::write_bytes(path, kOld);
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(path, Overwrite::kYes);
    static_cast<void>(file.place());  // with a temporary name
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(folder.count(), 2U);
  EXPECT_EQ(dead_temporaries(path).size(), 1U);

  remove_dead_temporaries(std::array{path});
  AtomicFile file(path, Overwrite::kYes);
  file.write_at(0, kNew);
  file.commit();

  EXPECT_EQ(test::read_bytes(path), kNew);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, WritesThroughASymbolicLinkWhetherItsTargetIsThereOrNot) {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "far");
  const std::string link = folder.file("link");
  ASSERT_EQ(::symlink("far/out", link.c_str()), 0);

  for (const auto& bytes : {kOld, kNew}) {
    AtomicFile file(link, Overwrite::kYes);
    file.write_at(0, bytes);
    file.commit();

    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(test::read_bytes(folder.file("far/out")), bytes);
  }
}

TEST(AtomicFile, HasTheModeThatTheUmaskLeaves) {
  const TempFolder folder;
  const mode_t before = ::umask(027);
  write_whole(folder.file("out"), "x", Overwrite::kYes);
  ::umask(before);
  struct stat info {};
  ASSERT_EQ(::stat(folder.file("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
  EXPECT_EQ(info.st_nlink, 1U);
}

TEST(WriteWhole, GoesThroughAPipeAndSaysThatADeviceIsFull) {
  const TempFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);

  write_whole(pipe, "abc", Overwrite::kYes);

  char text[8] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 3);
  EXPECT_STREQ(text, "abc");
  ::close(reader);
  EXPECT_EQ(thrown_by([] { write_whole("/dev/full", "abc", Overwrite::kYes); }).status,
            Status::kDiskFull);
}

TEST(RemoveDeadTemporaries, LeavesThoseOfTheLivingOfOtherMachinesAndOfOtherFiles) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  const std::string pid = std::to_string(::getpid());
  for (const std::string& name :
       {"out.tmp-" + pid + "-0", "out.tmp-" + pid + "-4711-0123456789abcdef-0",
        std::string("out.tmp-1-0-0123456789abcdef-0"), std::string("out.tmp-x"),
        std::string("out.tmp-")}) {
    test::write_bytes(folder.file(name), kOld);
  }

  remove_dead_temporaries(std::array{path, folder.file("none/out")});

  EXPECT_EQ(folder.count(), 5U);
}

}  // namespace
}  // namespace loom
