// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fits/verify.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "loom/base/error.hpp"
#include "loom/files/input_file.hpp"
#include "loom/fits/fits_reader.hpp"
#include "loom/fits/fits_writer.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"

namespace loom::fits {
namespace {

class VerifyFile : public testing::TestWithParam<const char*> {
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

TEST_P(VerifyFile, AFileAsWrittenIsGood) {
  EXPECT_NO_THROW(verify_checksums(path_));
  EXPECT_EQ(file_crc32(path_), file_crc32(path_));
}

TEST_P(VerifyFile, OneBitIsNoticed) {
  const auto crc = file_crc32(path_);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path_));
  flip(size / 2);
  EXPECT_NE(file_crc32(path_), crc);
  EXPECT_THROW(verify_checksums(path_), Error);
}

TEST_P(VerifyFile, ATruncatedFileIsNoticed) {
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2 - 100);
  EXPECT_THROW(verify_checksums(path_), Error);
}

TEST(Pipe, IsRefusedByEveryDoor) {
  ::alarm(20);  // whoever opens a pipe without a writer waits for ever
  const test::TempFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);

  for (const auto& open : std::vector<std::function<void()>>{[&] { (void)FitsReader::open(path); },
                                                             [&] { (void)file_crc32(path); },
                                                             [&] { verify_checksums(path); }}) {
    const auto thrown = test::thrown_by(open);
    EXPECT_EQ(thrown.status, Status::kNotFound);
    EXPECT_TRUE(thrown.says(path + ": is a pipe, expected a regular file")) << thrown.message;
  }
  ::alarm(0);
}

INSTANTIATE_TEST_SUITE_P(PlainAndPacked, VerifyFile, testing::Values(".fits", ".fits.gz"));

/// Bytes of three HDUs: an image of a size that is no multiple of 4 words, a packed mask, a table.
std::vector<std::uint8_t> signed_file() {
  MemorySink sink;
  FitsWriter writer(sink);
  std::vector<double> pixels(7777);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<double>(i * i % 977);
  writer.image("IMAGE", std::span<const double>(pixels), {77, 101}, PixelType::kInt16);
  const std::vector<std::uint32_t> mask(7777, 3);
  writer.compressed_mask("MASK", mask, 77, 101);
  writer.table("T", TableBuilder(101).add("X", std::span<const double>(pixels).first(101)).build());
  return sink.bytes();
}

Status reading(const std::vector<std::uint8_t>& bytes, const std::string& name, Verify verify) {
  const auto reader = FitsReader::from_memory(bytes, "f.fits", kMaxUnpacked, verify);
  const Hdu& hdu = reader.require(name);
  return test::thrown_by([&] {
           if (hdu.kind == HduKind::kTable) {
             (void)reader.read_table(hdu);
           } else {
             std::vector<double> pixels(hdu.pixels());
             reader.read_pixels<double>(hdu, pixels);
           }
         })
      .status;
}

TEST(FitsReader, ComparesTheSumsOfWhatIsRead) {
  const auto good = signed_file();
  const auto hdus = FitsReader::from_memory(good, "f.fits").hdus();
  for (const Hdu& hdu : hdus) {
    EXPECT_EQ(reading(good, hdu.name, Verify::kYes), Status::kOk) << hdu.name;
    // The first byte, one in the middle, the last; and one of the padding.
    for (const std::uint64_t at : {hdu.data_offset, hdu.data_offset + hdu.data_bytes / 2,
                                   hdu.data_offset + hdu.data_bytes - 1, hdu.end() - 1}) {
      auto bad = good;
      bad[at] ^= 0x10U;
      EXPECT_EQ(reading(bad, hdu.name, Verify::kYes), Status::kCorrupt) << hdu.name << ' ' << at;
      for (const Hdu& other : hdus) {
        if (other.name == hdu.name) continue;
        EXPECT_EQ(reading(bad, other.name, Verify::kYes), Status::kOk) << "it was not read";
      }
    }
    if (hdu.kind == HduKind::kImage) {
      auto bad = good;
      bad[hdu.data_offset] ^= 0x10U;
      EXPECT_EQ(reading(bad, hdu.name, Verify::kNo), Status::kOk);
    }
  }
}

TEST(FitsReader, ReadsAndSumsAWholeImageByAllThreads) {
  const test::TempFolder folder;
  const std::string path = folder.file("large.fits");
  std::vector<float> pixels(300007);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = 0.1F * static_cast<float>(i);
  write_fits(path, Overwrite::kYes, [&](FitsWriter& writer) {
    writer.image("FLUX", std::span<const float>(pixels), {300007, 1}, PixelType::kFloat32);
  });
  const auto read = [&](std::vector<float>& out) {
    TestThreads threads(4);
    const auto reader = FitsReader::open(path, Verify::kYes, &threads);
    out.assign(pixels.size(), 0);
    reader.read_pixels<float>(reader.require("FLUX"), out);
  };
  std::vector<float> found;
  read(found);
  EXPECT_EQ(found, pixels);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(2 * 2880 + 4 * 299000 + 3);
  file.put('x');
  file.close();
  EXPECT_EQ(test::thrown_by([&] { read(found); }).status, Status::kCorrupt);
}

TEST(FitsReader, TheMessageOfASumSaysWhatWasFoundAndExpected) {
  auto bytes = signed_file();
  const Hdu hdu = FitsReader::from_memory(bytes, "f.fits").require("IMAGE");
  bytes[hdu.data_offset + 1] ^= 1U;
  const auto reader = FitsReader::from_memory(bytes, "f.fits", kMaxUnpacked, Verify::kYes);
  std::vector<float> pixels(hdu.pixels());

  const auto thrown = test::thrown_by([&] { reader.read_pixels<float>(hdu, pixels); });

  EXPECT_TRUE(thrown.says("f.fits: HDU 0 'IMAGE': DATASUM is " + *hdu.header.text("DATASUM") +
                          ", but the data sum to "))
      << thrown.message;
}

TEST(FitsReader, AChangedHeaderIsNoticedByChecksum) {
  auto bytes = signed_file();
  const Hdu hdu = FitsReader::from_memory(bytes, "f.fits").require("IMAGE");
  const std::string card = "EXTNAME = 'IMAGE";
  const auto at = std::search(bytes.begin(), bytes.end(), card.begin(), card.end());
  ASSERT_NE(at, bytes.end());
  at[20] = 'x';  // beyond the name
  EXPECT_EQ(reading(bytes, "IMAGE", Verify::kYes), Status::kCorrupt);
}

TEST(FitsReader, EmptySumsSayNothing) {
  auto bytes = signed_file();
  const Hdu image = FitsReader::from_memory(bytes, "f.fits").require("IMAGE");
  for (const std::string key : {"CHECKSUM= ", "DATASUM = "}) {
    const auto at = std::search(bytes.begin(), bytes.end(), key.begin(), key.end());
    std::fill(at + 10, at + 80, std::uint8_t{' '});
  }
  bytes[image.data_offset] ^= 1U;
  EXPECT_EQ(reading(bytes, "IMAGE", Verify::kYes), Status::kOk);
}

TEST(Checksum, OfAnyLengthIsTheSumOfItsWords) {
  std::vector<std::uint8_t> bytes(40000);
  std::uint32_t state = 3;
  for (auto& b : bytes) {
    state = state * 1664525U + 1013904223U;
    b = state >> 30 == 0 ? 0xff : static_cast<std::uint8_t>(state >> 24);
  }
  for (const std::size_t n : {0, 4, 28, 32, 36, 4096, 4100, 8224, 40000}) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; i += 4) {
      sum += std::uint64_t{bytes[i]} << 24 | bytes[i + 1] << 16 | bytes[i + 2] << 8 | bytes[i + 3];
    }
    while (sum >> 32 != 0) sum = (sum & 0xffffffffU) + (sum >> 32);
    Checksum found;
    found.add({bytes.data(), n});
    EXPECT_EQ(found.value(), sum) << n;
  }
}

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
}  // namespace loom::fits
