// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/gzip.hpp"

#include <gtest/gtest.h>

#include "loom/files/byte_source.hpp"
#include "loom/testing/test_files.hpp"

namespace loom {
namespace {

using test::thrown_by;

std::vector<std::uint8_t> sample(std::size_t n) {
  std::vector<std::uint8_t> out(n);
  std::uint32_t state = 7;
  for (auto& b : out) {
    state = state * 1664525U + 1013904223U;
    b = static_cast<std::uint8_t>(state >> 28);
  }
  return out;
}

std::vector<std::uint8_t> unpack(std::span<const std::uint8_t> packed,
                                 std::size_t max = kMaxUnpacked) {
  const Bytes out = gunzip(packed, "test.gz", max);
  return {out.view().begin(), out.view().end()};
}

TEST(Gzip, ComesBackAsItWent) {
  for (const std::size_t n : {0UL, 1UL, 1000UL, 300000UL}) {
    const auto bytes = sample(n);
    EXPECT_EQ(unpack(gzip(bytes)), bytes);
  }
}

TEST(Gzip, HeaderHoldsNeitherTimeNorName) {
  const auto packed = gzip(sample(100));

  EXPECT_EQ(packed[3], 0);  // no name, no comment
  EXPECT_TRUE(packed[4] == 0 && packed[5] == 0 && packed[6] == 0 && packed[7] == 0);
  EXPECT_EQ(packed, gzip(sample(100)));
}

TEST(Zlib, IsTheGzipMemberInAnotherWrapper) {
  // RFC 1950: two bytes of header, Adler-32 big-endian at the end; RFC 1952: ten and eight
  for (const std::size_t n : {0UL, 9UL, 300000UL}) {
    const auto stream = zlib(sample(n)), member = gzip(sample(n));

    ASSERT_EQ(stream.size() + 12, member.size());
    EXPECT_EQ(stream[0], 0x78);
    EXPECT_EQ((stream[0] * 256 + stream[1]) % 31, 0);
    EXPECT_TRUE(std::equal(stream.begin() + 2, stream.end() - 4, member.begin() + 10));
  }
  const std::string text = "Wikipedia";  // its Adler-32 is in the article of that name
  const auto stream = zlib({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  EXPECT_EQ(std::vector<std::uint8_t>(stream.end() - 4, stream.end()),
            (std::vector<std::uint8_t>{0x11, 0xe6, 0x03, 0x98}));
}

TEST(Zlib, UnpacksToJustItsOwnSize) {
  const auto whole = sample(3000), stream = zlib(whole);
  std::vector<std::uint8_t> out(whole.size());
  unzlib(stream, out, "stream");
  EXPECT_EQ(out, whole);
  for (const std::size_t size : {2999U, 3001U}) {
    out.resize(size);
    EXPECT_THROW(unzlib(stream, out, "stream"), Error) << size;
  }
  out.resize(3000);
  EXPECT_THROW(unzlib(std::span(stream).first(stream.size() - 5), out, "stream"), Error);
}

TEST(Gunzip, ReadsAllMembersAndZeroPadding) {
  auto packed = gzip(sample(70000));
  const auto second = gzip(sample(200000));
  packed.insert(packed.end(), second.begin(), second.end());
  packed.resize(packed.size() + 512, 0);

  const auto out = unpack(packed);

  EXPECT_EQ(out.size(), 270000U);
  EXPECT_TRUE(std::equal(out.begin() + 70000, out.end(), sample(200000).begin()));
}

TEST(Gunzip, EveryTruncationIsCorrupt) {
  const auto packed = gzip(sample(5000));
  for (std::size_t n = 0; n < packed.size(); n += 7) {
    const auto thrown = thrown_by([&] { unpack(std::span(packed).first(n)); });
    EXPECT_EQ(thrown.status, Status::kCorrupt) << n;
    EXPECT_TRUE(thrown.says("test.gz: gzip: "));
  }
}

TEST(Gunzip, DamagedBytesAreCorruptByTheirChecksum) {
  const auto packed = gzip(sample(5000));
  auto damaged = packed;
  damaged[damaged.size() / 2] ^= 0x10;

  EXPECT_EQ(thrown_by([&] { unpack(damaged); }).status, Status::kCorrupt);
}

TEST(Gunzip, GarbageAfterTheEndIsCorrupt) {
  auto packed = gzip(sample(100));
  packed.insert(packed.end(), {'j', 'u', 'n', 'k'});

  EXPECT_TRUE(thrown_by([&] { unpack(packed); }).says("garbage after byte"));
}

TEST(Gunzip, StopsAGzipBomb) {
  const auto bomb = gzip(std::vector<std::uint8_t>(std::size_t{8} << 20, 0));

  const auto thrown = thrown_by([&] { unpack(bomb, std::size_t{1} << 20); });

  EXPECT_EQ(thrown.status, Status::kCorrupt);
  EXPECT_TRUE(thrown.says("more than 1048576 bytes"));
}

TEST(Gunzip, DoesNotBelieveTheLengthAtTheEnd) {
  auto packed = gzip(sample(1000));
  for (std::size_t i = 1; i <= 4; ++i) packed[packed.size() - i] = 0xff;

  EXPECT_EQ(thrown_by([&] { unpack(packed); }).status, Status::kCorrupt);
}

TEST(ResolvePath, FallsBackToGzAndBack) {
  const test::TempFolder folder;
  test::write_bytes(folder.file("a.fits.gz"), gzip(sample(10)));
  test::write_bytes(folder.file("b.fits"), sample(10));

  EXPECT_EQ(resolve_path(folder.file("a.fits")), folder.file("a.fits.gz"));
  EXPECT_EQ(resolve_path(folder.file("b.fits.gz")), folder.file("b.fits"));
  const auto thrown = thrown_by([&] { (void)resolve_path(folder.file("c.fits")); });
  EXPECT_EQ(thrown.status, Status::kNotFound);
  EXPECT_TRUE(thrown.says(folder.file("c.fits")));
}

TEST(ByteSource, RefusesAFolder) {
  const test::TempFolder folder;

  EXPECT_EQ(thrown_by([&] { (void)ByteSource::open(folder.path().string()); }).status,
            Status::kNotFound);
}

TEST(ByteSource, AFileThatShrankIsCorruptAndNoCrash) {
  const test::TempFolder folder;
  const std::string path = folder.file("shrinks");
  test::write_bytes(path, sample(100000));
  const auto source = ByteSource::open(path);
  std::filesystem::resize_file(path, 1000);

  std::vector<std::uint8_t> out(5000);

  EXPECT_EQ(thrown_by([&] { source->read(50000, out); }).status, Status::kCorrupt);
}

}  // namespace
}  // namespace loom
