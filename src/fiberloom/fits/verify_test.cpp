// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/fits/verify.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fiberloom/base/error.hpp"
#include "fiberloom/fits/fits_writer.hpp"

namespace fiberloom::fits {
namespace {

class Verify : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "fiberloom_verify" + GetParam();
    const std::vector<float> pixels(5000, 1.5F);
    write_fits(path_, Overwrite::kYes, [&](FitsWriter& writer) {
      writer.image("FLUX", std::span<const float>(pixels), {100, 50}, PixelType::kFloat32);
      writer.image("IVAR", std::span<const float>(pixels), {100, 50}, PixelType::kFloat32);
    });
  }
  void TearDown() override { std::filesystem::remove(path_); }
  void flip(std::streamoff at) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char c = static_cast<char>(file.get() ^ 1);
    file.seekp(at);
    file.put(c);
  }
  std::string path_;
};

TEST_P(Verify, AFileAsWrittenIsGood) {
  EXPECT_NO_THROW(verify_checksums(path_));
  EXPECT_EQ(file_crc32(path_), file_crc32(path_));
}

TEST_P(Verify, OneBitIsNoticed) {
  const auto crc = file_crc32(path_);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path_));
  flip(size / 2);
  EXPECT_NE(file_crc32(path_), crc);
  EXPECT_THROW(verify_checksums(path_), Error);
}

TEST_P(Verify, ATruncatedFileIsNoticed) {
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2 - 100);
  EXPECT_THROW(verify_checksums(path_), Error);
}

INSTANTIATE_TEST_SUITE_P(PlainAndPacked, Verify, testing::Values(".fits", ".fits.gz"));

TEST(VerifyChecksums, AFileWithoutThemIsNotGood) {
  const std::string path = testing::TempDir() + "fiberloom_no_checksum.fits";
  std::string header = "SIMPLE  =                    T";
  header.resize(80, ' ');
  header += "BITPIX  =                    8";
  header.resize(160, ' ');
  header += "NAXIS   =                    0";
  header.resize(240, ' ');
  header += "END";
  header.resize(2880, ' ');
  std::ofstream(path) << header;
  try {
    verify_checksums(path);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has no CHECKSUM"), std::string::npos);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace fiberloom::fits
