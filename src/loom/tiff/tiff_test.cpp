// SPDX-License-Identifier: BSD-3-Clause
// Files are built byte by byte here, in both orders, both versions, with each packing.
#include "loom/tiff/tiff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <map>

#include "loom/testing/test_files.hpp"
#include "loom/tiff/test_tiff.hpp"
#include "loom/tiff/tiff_codec.hpp"

namespace loom::tiff {
namespace {

using Build = test::TiffBuild;
using test::TempFolder;
using test::thrown_by;
using test::write_bytes;
using Bytes = std::vector<std::uint8_t>;

/// 24 x 20 numbers (x^2 + 5 x y + y) mod 61, packed by libtiff: codes of 9 and 10 bits.
constexpr std::array<std::uint8_t, 534> kLzw{
    128, 0,   0,   32,  64,  72,  64,  50,  36,  24,  128, 194, 130, 113, 224, 88,  94,  13,  21,
    3,   5,   161, 49,  192, 136, 28,  57,  20,  128, 64,  224, 240, 200, 148, 102, 6,   12,  11,
    0,   161, 209, 184, 88,  104, 23,  28,  136, 1,   35,  16,  240, 52,  118, 46,  17,  128, 129,
    161, 161, 72,  232, 32,  37,  30,  6,   6,   97,  49,  144, 88,  114, 33,  5,   141, 4,   65,
    32,  32,  212, 86,  35,  14,  128, 194, 98,  81,  200, 72,  84,  7,   17,  129, 4,   128, 145,
    104, 88,  2,   43,  13,  2,   199, 99,  1,   56,  128, 54,  24,  11,  129, 3,   35,  0,   96,
    156, 14,  38,  5,   11,  66,  163, 193, 64,  88,  12,  53,  20,  135, 194, 225, 16,  104, 44,
    22,  13,  8,   129, 67,  227, 176, 224, 240, 66,  8,   23,  6,   64,  195, 33,  24,  88,  22,
    2,   28,  12,  198, 2,   241, 128, 204, 112, 2,   5,   129, 132, 160, 145, 96,  80,  118, 39,
    10,  129, 70,  130, 128, 240, 88,  32,  12,  5,   2,   129, 129, 0,   176, 120, 80,  52,  2,
    129, 197, 97,  65,  224, 164, 48,  9,   28,  139, 132, 161, 224, 200, 88,  42,  22,  12,  135,
    132, 162, 225, 200, 36,  48,  41,  30,  2,   6,   33,  240, 120, 4,   100, 40,  16,  6,   130,
    193, 64,  160, 88,  52,  32,  20,  12,  128, 32,  240, 248, 196, 16,  30,  27,  2,   70,  226,
    160, 248, 88,  30,  10,  3,   129, 128, 224, 160, 120, 88,  62,  42,  27,  130, 67,  66,  208,
    40,  112, 106, 19,  24,  2,   128, 3,   81,  120, 172, 82,  41,  21,  139, 198, 160, 0,   80,
    88,  72,  26,  1,   32,  232, 102, 7,   5,   0,   56,  74,  4,   5,   76,  136, 6,   1,   0,
    96,  48,  22,  9,   3,   97,  48,  102, 2,   130, 200, 200, 48,  24,  129, 225, 96,  28,  23,
    130, 161, 208, 72,  6,   1,   128, 112, 36,  12,  4,   1,   80,  108, 3,   130, 225, 72,  0,
    11,  5,   192, 88,  78,  4,   5,   0,   104, 98,  13,  0,   161, 122, 90,  9,   3,   33,  16,
    90,  29,  1,   128, 232, 96,  4,   3,   225, 192, 44,  25,  130, 161, 176, 56,  2,   5,   96,
    184, 10,  25,  4,   128, 192, 28,  12,  4,   129, 144, 10,  11,  133, 96,  32,  56,  27,  2,
    161, 152, 44,  28,  3,   224, 64,  96,  14,  129, 129, 208, 90,  17,  3,   32,  144, 30,  15,
    5,   224, 40,  52,  24,  129, 161, 64,  16,  19,  129, 97,  112, 44,  0,   5,   32,  184, 14,
    27,  5,   65,  0,   48,  9,   1,   205, 24,  72,  29,  2,   161, 120, 28,  22,  1,   225, 136,
    48,  0,   133, 32,  176, 10,  25,  132, 192, 216, 37,  5,   65,  128, 48,  34,  21,  1,   1,
    40,  14,  20,  1,   193, 152, 58,  4,   134, 129, 32,  44,  249, 62,  143, 179, 240, 253, 0,
    0,   144, 96,  9,   134, 160, 224, 10,  22,  131, 78,  211, 184, 239, 60,  15,  19,  200, 243,
    61,  0,   152, 108, 15,  56,  78,  35,  140, 228, 57,  78,  99,  156, 232, 58,  78,  160, 98,
    128, 128};

class Tiff : public testing::Test {
 protected:
  Reader open(const Bytes& bytes) {
    write_bytes(path, bytes);
    return Reader(path);
  }
  test::Thrown fault(const Bytes& bytes) {
    write_bytes(path, bytes);
    return thrown_by([&] {
      const Reader reader(path);
      std::vector<float> out(reader.page(0).width * reader.page(0).height);
      reader.read(0, 0, reader.page(0).height, std::span<float>(out));
    });
  }
  std::vector<float> rows(const Reader& reader, std::size_t page, std::size_t first,
                          std::size_t count) {
    std::vector<float> out(count * reader.page(page).width);
    reader.read(page, first, count, std::span<float>(out));
    return out;
  }

  const TempFolder folder;
  const std::string path = folder.file("image.tif");
};

TEST_F(Tiff, BothOrdersBothVersionsAndEachPackingHoldTheSamePixels) {
  for (const bool big_endian : {false, true}) {
    for (const bool version_43 : {false, true}) {
      for (const std::uint64_t compression : {1, 5, 8}) {
        for (const std::size_t strip_rows : {1U, 3U, 4U}) {
          const Build build{.big_endian = big_endian,
                            .version_43 = version_43,
                            .strip_rows = strip_rows,
                            .pages = 3,
                            .compression = compression,
                            .predictor = compression > 1 && strip_rows == 3 ? 2U : 1U};
          const Reader reader = open(build.bytes());
          ASSERT_EQ(reader.pages(), 3U);
          EXPECT_EQ(reader.page(2).width, 5U);
          EXPECT_EQ(reader.page(2).height, 4U);
          EXPECT_EQ(rows(reader, 2, 1, 2), (std::vector<float>{2100, 2101, 2102, 2103, 2104, 2200,
                                                               2201, 2202, 2203, 2204}));
          EXPECT_EQ(rows(reader, 1, 0, 4).back(), 1304);
          std::vector<std::uint16_t> counts(5);
          reader.read(0, 3, 1, std::span<std::uint16_t>(counts));
          EXPECT_EQ(counts, (std::vector<std::uint16_t>{300, 301, 302, 303, 304}));
        }
      }
    }
  }
}

TEST_F(Tiff, EveryKindOfNumberIsRead) {
  struct Kind {
    std::uint64_t bits, format, pattern;
    float value;
    const char* name;
  };
  for (const Kind& kind :
       {Kind{8, 1, 0xfe, 254, "uint8"}, Kind{8, 2, 0xfe, -2, "int8"},
        Kind{16, 1, 0xfffe, 65534, "uint16"}, Kind{16, 2, 0xfffe, -2, "int16"},
        Kind{32, 1, 0xffff0000, 4294901760.0F, "uint32"}, Kind{32, 2, 0xfffffffe, -2, "int32"},
        Kind{32, 3, std::bit_cast<std::uint32_t>(-1.25F), -1.25F, "float32"},
        Kind{64, 3, std::bit_cast<std::uint64_t>(0.1), 0.1F, "float64"}}) {
    for (const bool big_endian : {false, true}) {
      const Reader reader = open(Build{
          .big_endian = big_endian,
          .bits = kind.bits,
          .format = kind.format,
          .value = [&](std::size_t, std::size_t, std::size_t) {
            return kind.pattern;
          }}.bytes());
      EXPECT_STREQ(name_of(reader.page(0).number), kind.name);
      EXPECT_EQ(rows(reader, 0, 0, 4), std::vector<float>(20, kind.value)) << kind.name;
    }
  }
}

TEST_F(Tiff, LzwIsWhatLibtiffWrites) {
  Bytes out(24 * 20);
  unpack(Packing::kLzw, kLzw, out, "golden");
  for (std::size_t y = 0; y < 20; ++y) {
    for (std::size_t x = 0; x < 24; ++x) {
      ASSERT_EQ(out[y * 24 + x], (x * x + 5 * x * y + y) % 61) << y << " " << x;
    }
  }
}

TEST_F(Tiff, LongStripsGrowTheirCodesAndBeginAnew) {
  Bytes in(40000);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * i / 7 % 251);
  const Bytes packed = test::pack_lzw(in);
  Bytes out(in.size());
  unpack(Packing::kLzw, packed, out, "long");
  EXPECT_EQ(out, in);
}

TEST_F(Tiff, StacksMayHaveTheirPagesBehindTheFirstAndSaySoInWords) {
  for (const char* text :
       {"ImageJ=1.53t\nimages=3\nslices=3\n", R"({"shape": [3, 4, 5], "truncated": true})",
        R"({"shape": [1, 3, 1, 4, 5], "axes": "x", "truncated": true})"}) {
    Build build{.strip_rows = 4, .description = text};
    Bytes bytes = build.bytes();
    // pixels of the two others follow the first page's: the strip goes to the end of the file
    const Bytes first = build.strip(0, 0, 4), second = build.strip(1, 0, 4),
                third = build.strip(2, 0, 4);
    const auto at = std::search(bytes.begin(), bytes.end(), first.begin(), first.end());
    ASSERT_NE(at, bytes.end());
    const std::size_t moved = bytes.size(), was = static_cast<std::size_t>(at - bytes.begin());
    for (const Bytes& page : {first, second, third})
      bytes.insert(bytes.end(), page.begin(), page.end());
    for (std::size_t i = 0; i + 12 <= moved; ++i) {  // the tag of the strip's place
      if (bytes[i] == 0x11 && bytes[i + 1] == 1 && bytes[i + 2] == 4 && bytes[i + 8] == was) {
        bytes[i + 8] = static_cast<std::uint8_t>(moved);
        bytes[i + 9] = static_cast<std::uint8_t>(moved >> 8);
      }
    }
    const Reader reader = open(bytes);
    ASSERT_EQ(reader.pages(), 3U) << text;
    EXPECT_EQ(rows(reader, 2, 3, 1), (std::vector<float>{2300, 2301, 2302, 2303, 2304}));
    bytes.resize(bytes.size() - 1);
    EXPECT_EQ(fault(bytes).status, Status::kCorrupt);
  }
  // a file that is whole says no more than its pages
  EXPECT_EQ(open(Build{.description = R"({"shape": [3, 4, 5]})"}.bytes()).pages(), 1U);
  for (const char* text : {R"({"shape": [99999999, 99999999, 4, 5], "truncated": true})",
                           R"({"shape": [3, 4, 5, "truncated": true})"}) {
    EXPECT_EQ(fault(Build{.strip_rows = 4, .description = text}.bytes()).status, Status::kCorrupt);
  }
}

TEST_F(Tiff, WhatIsNoGreyImageInStripsIsUnsupported) {
  const auto with = [&](std::uint16_t tag, std::uint64_t value) {
    return fault(Build{.more = {{tag, value}}}.bytes());
  };
  EXPECT_EQ(with(277, 3).status, Status::kUnsupported);
  EXPECT_EQ(with(262, 0).status, Status::kUnsupported);
  EXPECT_EQ(with(322, 16).status, Status::kUnsupported);
  EXPECT_EQ(with(266, 2).status, Status::kUnsupported);
  EXPECT_TRUE(with(259, 7).says("compression 7, expected"));
  EXPECT_TRUE(with(258, 12).says("numbers of 12 bits"));
  EXPECT_TRUE(with(317, 3).says("predictor 3"));
}

TEST_F(Tiff, EveryTruncationAndEveryChangedByteIsAnErrorOrAnImage) {
  for (const std::uint64_t compression : {1, 5, 8}) {
    const Bytes whole =
        Build{.pages = 2, .compression = compression, .description = "text"}.bytes();
    for (std::size_t n = 0; n < whole.size(); ++n) {
      EXPECT_EQ(fault({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)}).status,
                Status::kCorrupt)
          << n;
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
      Bytes changed = whole;
      changed[i] ^= 0x81;
      const Status status = fault(changed).status;
      EXPECT_TRUE(status == Status::kOk || status == Status::kCorrupt ||
                  status == Status::kUnsupported)
          << i;
    }
  }
  Bytes damaged(kLzw.begin(), kLzw.end()), out(24 * 20);
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    damaged[i] ^= 0x5a;
    (void)thrown_by([&] { unpack(Packing::kLzw, damaged, out, "damaged"); });
    damaged[i] ^= 0x5a;
  }
  EXPECT_EQ(thrown_by([&] {
              unpack(Packing::kLzw, {damaged.data(), 300}, out, "cut");
            }).status,
            Status::kCorrupt);
}

TEST_F(Tiff, PagesThatGoRoundAreCorrupt) {
  Bytes bytes = Build{}.bytes();
  std::copy_n(bytes.begin() + 4, 4, bytes.end() - 4);  // the next page is the first
  EXPECT_TRUE(fault(bytes).says("circle"));
}

TEST_F(Tiff, WhatIsWrittenIsRead) {
  const std::vector<float> pixels{1, -2.5F, 3e-20F, 4, 5, 6};
  for (const std::string& text : {std::string(), std::string(100, 'x')}) {
    Bytes bytes = page_header(3, 2, text);
    EXPECT_EQ(bytes.size() % 16, 0U);
    const auto* const raw = reinterpret_cast<const std::uint8_t*>(pixels.data());
    bytes.insert(bytes.end(), raw, raw + 24);
    const Reader reader = open(bytes);
    EXPECT_EQ(rows(reader, 0, 0, 2), pixels);
    EXPECT_EQ(reader.page(0).description, text);
    bytes.pop_back();
    EXPECT_EQ(fault(bytes).status, Status::kCorrupt);
  }
}

TEST_F(Tiff, PagesOfFourGigabytesAreBigTiff) {
  EXPECT_EQ(page_header(30000, 30000, "")[2], 42);
  EXPECT_EQ(page_header(32768, 32768, "")[2], 43);
}

}  // namespace
}  // namespace loom::tiff
