// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/fits/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "fiberloom/fits/test_support.hpp"

namespace fiberloom::fits {
namespace {

using test::TempFolder;
using test::thrown_by;
const std::vector<std::uint8_t> kOld{1, 2, 3}, kNew{4, 5, 6, 7};

/// Files may not grow beyond this while it lives; writing more gives EFBIG instead of a signal.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

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

}  // namespace
}  // namespace fiberloom::fits
