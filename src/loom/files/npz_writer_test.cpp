// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/npz_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "loom/files/gzip.hpp"
#include "loom/testing/test_files.hpp"

namespace loom {
namespace {

using test::read_bytes;
using test::TempFolder;
using test::thrown_by;

std::uint32_t word(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return bytes[at] | std::uint32_t{bytes[at + 1]} << 8 | std::uint32_t{bytes[at + 2]} << 16 |
         std::uint32_t{bytes[at + 3]} << 24;
}

const std::array<double, 6> kNumbers{1, 2.5, -3, 4, 5, 6};
const std::array<std::int32_t, 3> kCounts{7, 8, 9};

std::vector<NpzArray> arrays() {
  return {{"data", "<f8", {2, 3}, raw_bytes(std::span<const double>(kNumbers))},
          {"counts", "<i4", {3}, raw_bytes(std::span<const std::int32_t>(kCounts))},
          {"format", "|S3", {}, raw_bytes(std::span<const char>("csr", 3))}};
}

TEST(NpzWriter, WritesMembersAsNumpyStoresThem) {
  const TempFolder folder;
  const std::string path = folder.file("m.npz");

  write_npz(path, Overwrite::kYes, arrays());

  const std::vector<std::uint8_t> bytes = read_bytes(path);
  std::string text(bytes.begin(), bytes.end());
  const std::string header =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";  // as numpy writes it
  ASSERT_NE(text.find(header), std::string::npos);
  EXPECT_NE(text.find("'<i4', 'fortran_order': False, 'shape': (3,), }"), std::string::npos);
  EXPECT_NE(text.find("'|S3', 'fortran_order': False, 'shape': (), }"), std::string::npos);
  // the first member: 30 bytes and its name, then 128 bytes of header and the numbers
  constexpr std::size_t kData = 30 + 8;
  ASSERT_EQ(text.substr(30, 8), "data.npy");
  EXPECT_EQ(word(bytes, 0), 0x04034b50U);
  EXPECT_EQ(word(bytes, 22), 128U + 48U);
  EXPECT_EQ(word(bytes, 14), crc32(0, std::span(bytes).subspan(kData, 128 + 48)));
  EXPECT_EQ(text[kData + 127], '\n');
  const auto numbers = raw_bytes(std::span<const double>(kNumbers));
  EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), bytes.begin() + kData + 128));
  // the end: three members, and where the directory is
  const std::size_t end = bytes.size() - 22;
  EXPECT_EQ(word(bytes, end), 0x06054b50U);
  EXPECT_EQ(bytes[end + 10], 3);
  EXPECT_EQ(word(bytes, word(bytes, end + 16)), 0x02014b50U);
  EXPECT_EQ(word(bytes, end + 16) + word(bytes, end + 12), end);
}

TEST(NpzWriter, GivesEqualBytesForEqualArrays) {
  const TempFolder folder;
  write_npz(folder.file("a"), Overwrite::kYes, arrays());
  write_npz(folder.file("b"), Overwrite::kYes, arrays());
  EXPECT_EQ(read_bytes(folder.file("a")), read_bytes(folder.file("b")));
}

TEST(NpzWriter, LeavesWhatIsThereAndNothingElse) {
  const TempFolder folder;
  write_npz(folder.file("a"), Overwrite::kYes, arrays());
  const auto before = read_bytes(folder.file("a"));
  EXPECT_EQ(thrown_by([&] { write_npz(folder.file("a"), Overwrite::kNo, {}); }).status,
            Status::kOutputExists);
  {
    FilesTogether together;
    write_npz(folder.file("b"), Overwrite::kYes, arrays(), &together);
    write_npz(folder.file("a"), Overwrite::kYes, {}, &together);
  }
  EXPECT_EQ(read_bytes(folder.file("a")), before);
  EXPECT_EQ(folder.count(), 1U);
}

}  // namespace
}  // namespace loom
