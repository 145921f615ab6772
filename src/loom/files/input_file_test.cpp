// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/input_file.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "loom/testing/test_files.hpp"

namespace loom {
namespace {

using test::TempFolder;
using test::thrown_by;

/// Whoever opens a pipe without a writer waits for ever: let that end this test.
class InputFileTest : public testing::Test {
 protected:
  void SetUp() override { ::alarm(20); }
  void TearDown() override { ::alarm(0); }
  const TempFolder folder_;
};

TEST_F(InputFileTest, APipeIsRefused) {
  const std::string path = folder_.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);

  const auto thrown = thrown_by([&] { (void)read_text(path, 100); });

  EXPECT_EQ(thrown.status, Status::kNotFound);
  EXPECT_TRUE(thrown.says(path + ": is a pipe, expected a regular file")) << thrown.message;
}

TEST_F(InputFileTest, AFolderADeviceAndASocketAreRefused) {
  EXPECT_TRUE(thrown_by([&] { InputFile file(folder_.path().string()); }).says("is a folder"));
  EXPECT_TRUE(thrown_by([] { InputFile file("/dev/zero"); }).says("is a device"));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder_.file("s");
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);

  EXPECT_TRUE(thrown_by([&] { InputFile file(path); }).says("is a socket"));

  ::close(fd);
}

TEST_F(InputFileTest, ALinkToAFileIsThatFile) {
  const std::string path = folder_.file("text"), link = folder_.file("link");
  const std::string text(10000, 'x');
  test::write_bytes(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);

  EXPECT_EQ(read_text(link, 1 << 20), text);
  EXPECT_EQ(thrown_by([&] { (void)read_text(link, 9999); }).status, Status::kCorrupt);
  EXPECT_EQ(InputFile(link).size(), text.size());
}

TEST_F(InputFileTest, AMarkOfUtf8IsNoPartOfATextAndAllElseIs) {
  for (const char* text : {"", "1 2\n", "\xEF\xBB", " \xEF\xBB\xBF"}) {
    for (const char* mark : {"", "\xEF\xBB\xBF"}) {
      std::ofstream(folder_.file("a.txt")) << mark << text;
      EXPECT_EQ(read_text(folder_.file("a.txt"), 1000), text);
    }
  }
}

TEST_F(InputFileTest, AFileThatIsNotThereIsNamed) {
  const auto thrown = thrown_by([&] { InputFile file(folder_.file("none")); });
  EXPECT_EQ(thrown.status, Status::kNotFound);
  EXPECT_TRUE(thrown.says("none: cannot open: No such file"));
}

}  // namespace
}  // namespace loom
