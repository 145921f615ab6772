// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/npz_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

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

std::uint64_t number(const std::vector<std::uint8_t>& bytes, std::size_t at, int size) {
  std::uint64_t out = 0;
  for (int i = 0; i < size; ++i) {
    out |= std::uint64_t{bytes[at + static_cast<std::size_t>(i)]} << 8 * i;
  }
  return out;
}

/// An archive by its directory, as APPNOTE.TXT (4.3) has it: names, contents, and how many of the
/// numbers stood in zip64 fields.
struct Archive {
  explicit Archive(const std::vector<std::uint8_t>& bytes) {
    const std::size_t end = bytes.size() - 22;
    std::uint64_t members = number(bytes, end + 10, 2), at = number(bytes, end + 16, 4);
    if (end >= 20 && number(bytes, end - 20, 4) == 0x07064b50) {
      const std::size_t wide = number(bytes, end - 20 + 8, 8);
      EXPECT_EQ(number(bytes, wide, 4), 0x06064b50U);
      EXPECT_EQ(wide + 12 + number(bytes, wide + 4, 8), end - 20);
      members = number(bytes, wide + 32, 8);
      at = number(bytes, wide + 48, 8);
      EXPECT_EQ(at + number(bytes, wide + 40, 8), wide);
      ++wide_numbers;
    }
    for (; members > 0; --members) at = add(bytes, at);
  }
  std::map<std::string, std::vector<std::uint8_t>> contents;
  std::size_t wide_numbers = 0;

 private:
  std::size_t add(const std::vector<std::uint8_t>& bytes, std::size_t at) {
    EXPECT_EQ(number(bytes, at, 4), 0x02014b50U);
    std::uint64_t size = number(bytes, at + 24, 4), place = number(bytes, at + 42, 4);
    const std::size_t name = number(bytes, at + 28, 2), extra = number(bytes, at + 30, 2);
    std::size_t field = at + 46 + name;
    if (extra > 0) {
      EXPECT_EQ(number(bytes, field, 2), 1U);
      EXPECT_EQ(number(bytes, field + 2, 2) + 4, extra);
      field += 4;
    }
    const auto widen = [&](std::uint64_t& value) {
      if (value != 0xffffffff) return;
      value = number(bytes, field, 8);
      field += 8;
      ++wide_numbers;
    };
    std::uint64_t packed = number(bytes, at + 20, 4);
    widen(size);
    widen(packed);
    widen(place);
    EXPECT_EQ(field, at + 46 + name + extra);
    EXPECT_EQ(packed, size);
    EXPECT_EQ(number(bytes, place, 4), 0x04034b50U);
    const std::size_t own = number(bytes, place + 28, 2), begin = place + 30 + name + own;
    EXPECT_EQ(own > 0, number(bytes, place + 22, 4) == 0xffffffff);
    if (own > 0) {
      EXPECT_EQ(number(bytes, begin - own + 4, 8), size);
      EXPECT_EQ(number(bytes, begin - own + 12, 8), size);
    }
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<std::uint8_t> content(first, first + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(number(bytes, at + 16, 4), crc32(0, content));
    const auto text = bytes.begin() + static_cast<std::ptrdiff_t>(at + 46);
    contents[std::string(text, text + static_cast<std::ptrdiff_t>(name))] = content;
    return at + 46 + name + extra;
  }
};

/// Of the arrays: sizes are 176, 140 and 131 bytes, places 0, 214 and 394.
TEST(NpzWriter, PutsWhatHasNoRoomIn32BitsElsewhere) {
  const TempFolder folder;
  const std::string path = folder.file("m.npz");
  write_npz(path, Overwrite::kYes, arrays());
  const Archive plain(read_bytes(path));
  ASSERT_EQ(plain.contents.size(), 3U);
  EXPECT_EQ(plain.wide_numbers, 0U);
  const struct {
    std::uint64_t most;
    std::size_t wide;
  } cases[] = {{1000, 0}, {500, 1}, {300, 2}, {150, 2 + 2 + 1}, {10, 6 + 2 + 1}};
  for (const auto& [most, wide] : cases) {
    write_npz(path, Overwrite::kYes, arrays(), nullptr, most);

    const Archive found(read_bytes(path));

    EXPECT_EQ(found.contents, plain.contents) << most;
    EXPECT_EQ(found.wide_numbers, wide) << most;
  }
}

/// The archives of the test before, read by others.
TEST(NpzWriter, WritesArchivesThatPythonReads) {
  if (std::system("python3 -c 'import zipfile' 2> /dev/null") != 0) GTEST_SKIP() << "no python3";
  const TempFolder folder;
  std::string paths;
  for (const std::uint64_t most : {kMostNarrow, 500UL, 300UL, 150UL, 10UL}) {
    const std::string path = folder.file(std::to_string(most) + ".npz");
    write_npz(path, Overwrite::kYes, arrays(), nullptr, most);
    paths += " '" + path + "'";
  }
  const std::string script =
      "import struct, sys, zipfile\n"
      "for path in sys.argv[1:]:\n"
      "    with zipfile.ZipFile(path) as archive:\n"
      "        assert archive.testzip() is None\n"
      "        assert archive.namelist() == [\"data.npy\", \"counts.npy\", \"format.npy\"]\n"
      "        assert archive.read(\"counts.npy\")[-12:] == struct.pack(\"<3i\", 7, 8, 9)\n"
      "    try:\n"
      "        import numpy\n"
      "    except ImportError:\n"
      "        continue\n"
      "    with numpy.load(path) as found:\n"
      "        assert found[\"data\"].tolist() == [[1, 2.5, -3], [4, 5, 6]]\n"
      "        assert found[\"format\"].item() == b\"csr\"\n";
  EXPECT_EQ(std::system(("python3 -c '" + script + "'" + paths).c_str()), 0);
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
