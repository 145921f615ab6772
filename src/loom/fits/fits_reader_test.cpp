// SPDX-License-Identifier: BSD-3-Clause
// Structure of files and what is wrong with bad ones. Files are made in memory, card by card.
#include "loom/fits/fits_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/files/byte_order.hpp"
#include "loom/fits/fits_writer.hpp"
#include "loom/testing/test_files.hpp"

namespace loom::fits {
namespace {

using test::thrown_by;
using Bytes8 = std::vector<std::uint8_t>;

/// A header from "KEY = value" lines, padded; not checked in any way.
Bytes8 raw_header(const std::vector<std::string>& lines) {
  Bytes8 out;
  for (std::string card : lines) {
    card.resize(80, ' ');
    out.insert(out.end(), card.begin(), card.end());
  }
  out.insert(out.end(), {'E', 'N', 'D'});
  out.resize((out.size() + kBlock - 1) / kBlock * kBlock, ' ');
  return out;
}

template <class T>
Bytes8 image_file(int bitpix, const std::vector<T>& pixels, std::vector<std::string> extra = {}) {
  std::vector<std::string> cards{"SIMPLE  =                    T",
                                 "BITPIX  = " + std::to_string(bitpix), "NAXIS   = 1",
                                 "NAXIS1  = " + std::to_string(pixels.size())};
  cards.insert(cards.end(), extra.begin(), extra.end());
  Bytes8 out = raw_header(cards);
  const std::size_t at = out.size();
  out.resize(at + (pixels.size() * sizeof(T) + kBlock - 1) / kBlock * kBlock);
  to_big_endian<T>(pixels.data(), out.data() + at, pixels.size());
  return out;
}

template <class T>
std::vector<T> pixels_of(const Bytes8& file) {
  const auto reader = FitsReader::from_memory(file, "test.fits");
  std::vector<T> out(reader.hdus().front().pixels());
  reader.read_pixels<T>(reader.hdus().front(), out);
  return out;
}

test::Thrown opening(const Bytes8& bytes) {
  return thrown_by([&] { (void)FitsReader::from_memory(bytes, "test.fits"); });
}

Bytes8 two_images() {
  MemorySink sink;
  FitsWriter writer(sink);
  const std::vector<float> a(6000, 1.5F);
  writer.image("A", std::span<const float>(a), {100, 60}, PixelType::kFloat32);
  writer.image("B", std::span<const float>(a), {60, 100}, PixelType::kFloat64);
  return sink.bytes();
}

TEST(FitsReader, ReadsEveryPixelType) {
  const std::vector<double> expected{1, 2, 250};

  EXPECT_EQ(pixels_of<double>(image_file<std::uint8_t>(8, {1, 2, 250})), expected);
  EXPECT_EQ(pixels_of<double>(image_file<std::int16_t>(16, {1, 2, 250})), expected);
  EXPECT_EQ(pixels_of<double>(image_file<std::int32_t>(32, {1, 2, 250})), expected);
  EXPECT_EQ(pixels_of<double>(image_file<std::int64_t>(64, {1, 2, 250})), expected);
  EXPECT_EQ(pixels_of<double>(image_file<float>(-32, {1, 2, 250})), expected);
  EXPECT_EQ(pixels_of<double>(image_file<double>(-64, {1, 2, 250})), expected);
}

TEST(FitsReader, AppliesScaleZeroAndBlank) {
  const auto file = image_file<std::int16_t>(16, {-32768, 0, 7},
                                             {"BZERO   = 32768", "BSCALE  = 2", "BLANK   = 7"});

  const auto v = pixels_of<double>(file);

  EXPECT_EQ(v[0], -32768.0);
  EXPECT_EQ(v[1], 32768.0);
  EXPECT_TRUE(std::isnan(v[2]));
  const auto thrown = thrown_by([&] { (void)pixels_of<std::uint32_t>(file); });
  EXPECT_EQ(thrown.status, Status::kUnsupported) << "BSCALE 2 makes no bits";
}

TEST(FitsReader, NonsenseInScalingCardsIsRefusedWhenThePixelsAreRead) {
  for (const char* card : {"BSCALE  = 0", "BSCALE  = nan", "BSCALE  =", "BZERO   = 'inf'",
                           "BZERO   = nan", "BLANK   = 1.5", "BLANK   = 'none'"}) {
    const auto file = image_file<std::int16_t>(16, {1, 2}, {card});
    const auto thrown = thrown_by([&] { (void)pixels_of<double>(file); });
    EXPECT_EQ(thrown.status, Status::kCorrupt) << card;
    EXPECT_TRUE(thrown.says("HDU 0: B")) << thrown.message;
    EXPECT_EQ(opening(file).status, Status::kOk) << "the file's other HDUs can be read";
  }
}

TEST(FitsReader, IntegersOf64BitsKeepWhatADoubleHolds) {
  constexpr std::int64_t kLow = INT64_MIN;
  const auto file = image_file<std::int64_t>(64, {kLow, kLow + 5, kLow + 40000, -1, 0, INT64_MAX},
                                             {"BZERO   = 9223372036854775808"});

  EXPECT_EQ(pixels_of<double>(file),
            (std::vector<double>{0, 5, 40000, 0x1p63 - 1, 0x1p63, 0x1p64}));
}

TEST(FitsReader, BlankMayBeAnyInteger) {
  const auto file = image_file<std::int64_t>(64, {INT64_MIN, INT64_MIN + 1, 7},
                                             {"BLANK   = -9223372036854775808"});

  const auto v = pixels_of<double>(file);

  EXPECT_TRUE(std::isnan(v[0]));
  EXPECT_EQ(v[1], -0x1p63);
  EXPECT_EQ(v[2], 7);
}

template <class T>
std::vector<std::uint32_t> bits_in(std::vector<T> pixels, std::vector<std::string> cards = {}) {
  return pixels_of<std::uint32_t>(image_file<T>(8 * static_cast<int>(sizeof(T)), pixels, cards));
}
using Bits = std::vector<std::uint32_t>;

TEST(MaskBits, OfSignedTypesAreTheirPattern) {
  EXPECT_EQ(bits_in<std::uint8_t>({0, 5, 255}), (Bits{0, 5, 255}));
  EXPECT_EQ(bits_in<std::uint8_t>({0, 127, 128, 133}, {"BZERO   = -128"}), (Bits{128, 255, 0, 5}));
  EXPECT_EQ(bits_in<std::int16_t>({5, -1, -32768}), (Bits{5, 0xffff, 0x8000}));
  EXPECT_EQ(bits_in<std::int32_t>({5, -1, INT32_MIN}), (Bits{5, 0xffffffff, 0x80000000}));
  EXPECT_EQ(bits_in<std::int64_t>({5, 0x80000001}), (Bits{5, 0x80000001}));
}

TEST(MaskBits, OfUnsignedTypesAreTheirValue) {
  EXPECT_EQ(bits_in<std::int16_t>({-32768, 0, 32767}, {"BZERO   = 32768"}),
            (Bits{0, 0x8000, 0xffff}));
  EXPECT_EQ(bits_in<std::int32_t>({INT32_MIN, 0, -1}, {"BZERO   = 2147483648"}),
            (Bits{0, 0x80000000, 0x7fffffff}));
  EXPECT_EQ(bits_in<std::int64_t>({INT64_MIN, INT64_MIN + 16, INT64_MIN + 0x80000001},
                                  {"BZERO   = 9223372036854775808"}),
            (Bits{0, 16, 0x80000001}));
  EXPECT_EQ(bits_in<std::int16_t>({-100, 0, 5}, {"BZERO   = 100"}), (Bits{0, 100, 105}));
}

TEST(MaskBits, BeyondThe32ndStandInTheLast) {
  EXPECT_EQ(bits_in<std::int64_t>({std::int64_t{1} << 32, (std::int64_t{1} << 40) + 3, -1}),
            (Bits{0x80000000, 0x80000003, 0xffffffff}));
  EXPECT_EQ(bits_in<std::int64_t>({0, INT64_MIN + (std::int64_t{1} << 62)},
                                  {"BZERO   = 9223372036854775808"}),
            (Bits{0x80000000, 0x80000000}));
}

TEST(MaskBits, OfAnUndefinedPixelAreAll) {
  EXPECT_EQ(bits_in<std::int16_t>({-1, 0, 2}, {"BLANK   = -1"}), (Bits{0xffffffff, 0, 2}));
  EXPECT_EQ(bits_in<std::int16_t>({-32768, 0}, {"BZERO   = 32768", "BLANK   = -32768"}),
            (Bits{0xffffffff, 0x8000}));
}

TEST(MaskBits, NeedIntegers) {
  const auto floats =
      thrown_by([] { (void)pixels_of<std::uint32_t>(image_file<float>(-32, {1})); });
  EXPECT_EQ(floats.status, Status::kWrongShape);
  for (const char* card : {"BZERO   = 0.5", "BSCALE  = 2", "BZERO   = 1E19"}) {
    const auto thrown = thrown_by([&] { (void)bits_in<std::int16_t>({1}, {card}); });
    EXPECT_EQ(thrown.status, Status::kUnsupported) << card;
  }
}

TEST(FitsReader, FindsHdusByNameInAnyCase) {
  const auto reader = FitsReader::from_memory(two_images(), "test.fits");

  EXPECT_EQ(reader.require("b").number, 1U);
  EXPECT_EQ(reader.require("B").shape(), "100 x 60");
  const auto thrown = thrown_by([&] { (void)reader.require("IVAR"); });
  EXPECT_EQ(thrown.status, Status::kMissingHdu);
  EXPECT_EQ(thrown.message, "test.fits: no HDU IVAR; the file has A, B");
}

TEST(FitsReader, EmptyAndGarbageAreNotFits) {
  EXPECT_EQ(opening({}).status, Status::kCorrupt);
  EXPECT_TRUE(opening(Bytes8(10000, 'x')).says("not a FITS file"));
  EXPECT_TRUE(opening(Bytes8(100, 'S')).says("100 bytes"));
}

TEST(FitsReader, EveryTruncationButBetweenTwoHdusIsNoticed) {
  const Bytes8 whole = two_images();
  const std::size_t second = FitsReader::from_memory(whole, "x").hdus()[1].data_offset - kBlock;
  for (std::size_t n = 1; n < whole.size(); ++n) {
    const auto thrown = opening({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)});
    EXPECT_EQ(thrown.status, n == second ? Status::kOk : Status::kCorrupt) << n;
  }
}

TEST(FitsReader, TruncationNamesTheHduAndTheSizes) {
  Bytes8 bytes = two_images();
  bytes.resize(bytes.size() - 2 * kBlock);

  const auto thrown = opening(bytes);

  EXPECT_TRUE(thrown.says("test.fits: HDU 1 'B': truncated: data to byte ")) << thrown.message;
  EXPECT_TRUE(thrown.says("the file has " + std::to_string(bytes.size())));
}

TEST(FitsReader, TrailingBytesThatAreNoHeaderAreForgiven) {
  for (const std::size_t more : {std::size_t{1}, std::size_t{100}, 5 * kBlock}) {
    Bytes8 bytes = two_images();
    bytes.resize(bytes.size() + more, 0);
    EXPECT_EQ(opening(bytes).status, Status::kOk) << more;
  }
}

/// A table of three bytes a row, two rows, behind an empty primary.
Bytes8 table_file(const std::vector<std::string>& more) {
  Bytes8 out = raw_header({"SIMPLE  =                    T", "BITPIX  = 8", "NAXIS   = 0"});
  std::vector<std::string> cards{"XTENSION= 'BINTABLE'", "BITPIX  = 8",      "NAXIS   = 2",
                                 "NAXIS1  = 3",          "NAXIS2  = 2",      "PCOUNT  = 0",
                                 "GCOUNT  = 1",          "TFIELDS = 2",      "TTYPE1  = 'FIBER'",
                                 "TFORM1  = '1I'",       "TTYPE2  = 'GOOD'", "TFORM2  = '1L'"};
  cards.insert(cards.end(), more.begin(), more.end());
  const Bytes8 header = raw_header(cards);
  out.insert(out.end(), header.begin(), header.end());
  const Bytes8 rows{0, 7, 'T', 0xff, 0xff, 0};
  out.insert(out.end(), rows.begin(), rows.end());
  out.resize((out.size() + kBlock - 1) / kBlock * kBlock);
  return out;
}

RawTable table_with(const std::vector<std::string>& cards) {
  const auto reader = FitsReader::from_memory(table_file(cards), "t.fits");
  return reader.read_table(reader.hdus().at(1));
}

TEST(Columns, AreScaledAndUndefinedWhereTheCardsSaySo) {
  EXPECT_EQ(table_with({}).column("FIBER"), (std::vector<double>{7, -1}));
  EXPECT_EQ(table_with({"TZERO1  = 32768"}).column("FIBER"), (std::vector<double>{32775, 32767}));
  EXPECT_EQ(table_with({"TSCAL1  = 0.5"}).column("FIBER"), (std::vector<double>{3.5, -0.5}));
  const RawTable null = table_with({"TNULL1  = -1"});
  EXPECT_TRUE(std::isnan((*null.column("FIBER"))[1]));
  EXPECT_EQ(null.integers("FIBER", -99), (std::vector<std::int64_t>{7, -99}));
  EXPECT_TRUE(std::isnan((*null.column("GOOD"))[1])) << "a logical of 0 is undefined";
}

TEST(Columns, NonsenseInTheScalingIsRefused) {
  for (const char* card : {"TSCAL1  = 0", "TSCAL1  = nan", "TZERO1  = 'x'", "TNULL1  = 1.5"}) {
    const auto thrown = thrown_by([&] { (void)table_with({card}); });
    EXPECT_EQ(thrown.status, Status::kCorrupt) << card;
    EXPECT_TRUE(thrown.says("t.fits: HDU 1: column FIBER: T")) << thrown.message;
  }
}

TEST(Columns, IntegersKeepAll64Bits) {
  const std::vector<std::int64_t> ids{39627000000000001, INT64_MIN, INT64_MAX};
  const RawTable table = TableBuilder(3).add("TARGETID", ids).build();
  EXPECT_EQ(table.integers("TARGETID", 0), ids);
}

TEST(Columns, OfACompressedTableAreRefused) {
  const auto thrown = thrown_by([] { (void)table_with({"ZTABLE  =                    T"}); });
  EXPECT_EQ(thrown.status, Status::kUnsupported);
  EXPECT_TRUE(thrown.says("is a compressed table (ZTABLE)")) << thrown.message;
}

TEST(FitsReader, HeaderWithoutEndIsCorrupt) {
  Bytes8 bytes = raw_header({"SIMPLE  =                    T", "BITPIX  = 8", "NAXIS   = 0"});
  std::fill(bytes.begin() + 240, bytes.begin() + 243, ' ');

  EXPECT_TRUE(opening(bytes).says("no END"));
}

TEST(FitsReader, ImpossibleKeywordsAreNamed) {
  const auto with = [](const std::string& bitpix, const std::string& naxis,
                       const std::string& naxis1) {
    return opening(
        raw_header({"SIMPLE  =                    T", "BITPIX  = " + bitpix, "NAXIS   = " + naxis,
                    "NAXIS1  = " + naxis1, "NAXIS2  = 99999999999"}));
  };

  EXPECT_TRUE(with("17", "1", "5").says("BITPIX is 17"));
  EXPECT_TRUE(with("8", "-1", "5").says("NAXIS is -1"));
  EXPECT_TRUE(with("8", "1000", "5").says("NAXIS is 1000"));
  EXPECT_TRUE(with("8", "1", "nan").says("NAXIS1 is nan"));
  EXPECT_TRUE(with("8", "3", "5").says("NAXIS3 is missing"));
  EXPECT_TRUE(with("-64", "2", "999999999999").says("impossible dimensions"));
  EXPECT_EQ(with("-64", "2", "99999").status, Status::kCorrupt);
}

TEST(FitsReader, ReadsATableWithItsHeapAndUserCards) {
  RawTable t = TableBuilder(3)
                   .add("FIBER", std::vector<std::int32_t>{5, 6, 7})
                   .add("RA", std::vector<double>{1.5, 2.5, 3.5}, "deg", "right ascension")
                   .add("NAME", std::vector<std::string>{"a", "bc", ""}, 3)
                   .build();
  t.header.set("SURVEY", "main");
  t.heap = {9, 8, 7};
  MemorySink sink;
  FitsWriter(sink).table("FIBERMAP", t);

  const auto reader = FitsReader::from_memory(sink.bytes(), "test.fits");
  const RawTable back = reader.read_table(reader.require("FIBERMAP"));

  EXPECT_EQ(back.data, t.data);
  EXPECT_EQ(back.heap, t.heap);
  EXPECT_EQ(back.header.text("SURVEY"), "main");
  EXPECT_EQ(back.column("FIBER"), (std::vector<double>{5, 6, 7}));
  EXPECT_EQ(back.slice(1, 2).column("RA"), (std::vector<double>{2.5, 3.5}));
  EXPECT_EQ(back.text_column("NAME"), (std::vector<std::string>{"a", "bc", ""}));
  EXPECT_FALSE(back.column("NAME"));
  EXPECT_FALSE(back.column("NONE"));
  EXPECT_EQ(HeaderCards{back.column_cards}.text("TUNIT2"), "deg");
  EXPECT_EQ(thrown_by([&] { (void)back.slice(2, 2); }).status, Status::kWrongShape);
}

TEST(FitsReader, ATableWhoseColumnsDoNotFitItsRowsIsCorrupt) {
  Bytes8 bytes = raw_header({"SIMPLE  =                    T", "BITPIX  = 8", "NAXIS   = 0"});
  const auto table =
      raw_header({"XTENSION= 'BINTABLE'", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 8",
                  "NAXIS2  = 0", "PCOUNT  = 0", "GCOUNT  = 1", "TFIELDS = 1", "TTYPE1  = 'A'",
                  "TFORM1  = '9223372036854775807D'"});
  bytes.insert(bytes.end(), table.begin(), table.end());
  const auto reader = FitsReader::from_memory(bytes, "test.fits");

  const auto thrown = thrown_by([&] { (void)reader.read_table(reader.hdus()[1]); });

  EXPECT_EQ(thrown.status, Status::kCorrupt);
}

TEST(FitsReader, ReadsGzippedBytesToo) {
  const auto reader = FitsReader::from_memory(gzip(two_images()), "test.fits.gz");

  EXPECT_EQ(reader.hdus().size(), 2U);
}

}  // namespace
}  // namespace loom::fits
