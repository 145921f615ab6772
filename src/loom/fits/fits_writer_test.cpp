// SPDX-License-Identifier: BSD-3-Clause
// What we write, as cfitsio sees it: values, checksums, standard conformance.
#include "loom/fits/fits_writer.hpp"

#include <fitsio.h>
#include <gtest/gtest.h>

#include "loom/fits/fits_reader.hpp"
#include "loom/testing/test_files.hpp"

namespace loom::fits {
namespace {

using test::TempFolder;
using test::thrown_by;

std::vector<std::uint32_t> mask_values(std::size_t n, std::uint32_t top) {
  std::vector<std::uint32_t> out(n, 0);
  std::uint32_t state = 3;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 1664525U + 1013904223U;
    if (i % 5000 < 300) out[i] = (state >> 8) % top;  // noise here, zeros there
  }
  return out;
}

/// All kinds of HDU that we write.
void build_sample(FitsWriter& writer) {
  const std::vector<double> d{1.25, -2, 1e30, 0.1, 5, 6};
  const std::vector<std::uint32_t> u{0, 1, 2147483648U, 4294967295U};
  HeaderCards h;
  h.set("CAMERA", "r0");
  writer.image("FLUX", std::span<const double>(d), {3, 2}, PixelType::kFloat32, h);
  writer.image("MASK", std::span<const std::uint32_t>(u), {4}, PixelType::kUInt32);
  writer.image("WAVE", std::span<const double>(d), {6}, PixelType::kFloat64);
  writer.table("T", TableBuilder(2).add("X", std::vector<double>{1, 2}, "m", "a comment").build());
  const auto mask = mask_values(90 * 40, 30000);
  writer.compressed_mask("CMASK", mask, 90, 40);
}

/// A cfitsio handle on a file, by name only.
class Cfitsio {
 public:
  explicit Cfitsio(const std::string& path) {
    fits_open_diskfile(&file, path.c_str(), READONLY, &status);
  }
  ~Cfitsio() {
    int ignored = 0;
    if (file != nullptr) fits_close_file(file, &ignored);
  }
  Cfitsio(const Cfitsio&) = delete;
  Cfitsio& operator=(const Cfitsio&) = delete;
  fitsfile* file = nullptr;
  int status = 0;
};

TEST(FitsWriter, ChecksumsOfEveryHduAreRightForCfitsio) {
  const TempFolder folder;
  write_fits(folder.file("a.fits"), Overwrite::kYes, build_sample);
  Cfitsio c(folder.file("a.fits"));
  int n = 0;
  fits_get_num_hdus(c.file, &n, &c.status);

  ASSERT_EQ(n, 5);
  for (int i = 1; i <= n; ++i) {
    int data = 0, all = 0;
    fits_movabs_hdu(c.file, i, nullptr, &c.status);
    fits_verify_chksum(c.file, &data, &all, &c.status);
    EXPECT_EQ(data, 1) << i;
    EXPECT_EQ(all, 1) << i;
  }
  EXPECT_EQ(c.status, 0);
}

TEST(FitsWriter, CfitsioReadsTheValuesThatWereWritten) {
  const TempFolder folder;
  write_fits(folder.file("a.fits"), Overwrite::kYes, build_sample);
  Cfitsio c(folder.file("a.fits"));
  std::vector<double> flux(6);
  std::vector<unsigned> mask(4);
  std::vector<int> packed(90 * 40);

  fits_movnam_hdu(c.file, IMAGE_HDU, const_cast<char*>("FLUX"), 0, &c.status);
  fits_read_img(c.file, TDOUBLE, 1, 6, nullptr, flux.data(), nullptr, &c.status);
  fits_movnam_hdu(c.file, IMAGE_HDU, const_cast<char*>("MASK"), 0, &c.status);
  fits_read_img(c.file, TUINT, 1, 4, nullptr, mask.data(), nullptr, &c.status);
  fits_movnam_hdu(c.file, IMAGE_HDU, const_cast<char*>("CMASK"), 0, &c.status);
  fits_read_img(c.file, TINT, 1, 90 * 40, nullptr, packed.data(), nullptr, &c.status);

  ASSERT_EQ(c.status, 0);
  EXPECT_EQ(flux[3], static_cast<double>(0.1F));
  EXPECT_EQ(mask, (std::vector<unsigned>{0, 1, 2147483648U, 4294967295U}));
  const auto expected = mask_values(90 * 40, 30000);
  EXPECT_TRUE(std::equal(packed.begin(), packed.end(), expected.begin()));
}

TEST(FitsWriter, SameInputGivesTheSameBytesPlainAndGzipped) {
  const TempFolder folder;
  for (const char* name : {"a.fits", "b.fits", "a.fits.gz", "b.fits.gz", "C.FITS.GZ"}) {
    write_fits(folder.file(name), Overwrite::kYes, build_sample);
  }

  EXPECT_EQ(test::read_bytes(folder.file("a.fits")), test::read_bytes(folder.file("b.fits")));
  EXPECT_EQ(test::read_bytes(folder.file("a.fits.gz")), test::read_bytes(folder.file("b.fits.gz")));
  EXPECT_EQ(test::read_bytes(folder.file("a.fits.gz")), test::read_bytes(folder.file("C.FITS.GZ")));
  const Bytes inner = gunzip(test::read_bytes(folder.file("a.fits.gz")), "a.fits.gz");
  const auto plain = test::read_bytes(folder.file("a.fits"));
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), inner.view().begin(), inner.view().end()));
}

TEST(FitsWriter, ATableThatNobodyHoldsHasTheBytesOfOneThatIsHeld) {
  const TempFolder folder;
  std::vector<double> values(5001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 7;
  const RawTable whole = TableBuilder(values.size()).add("X", values).add("Y", values).build();
  write_fits(folder.file("whole.fits"), Overwrite::kYes,
             [&](FitsWriter& writer) { writer.table("T", whole); });
  RawTable layout = whole;
  layout.data.clear();
  std::size_t next = 0;
  write_fits(folder.file("rows.fits"), Overwrite::kYes, [&](FitsWriter& writer) {
    writer.table("T", layout, [&](std::size_t first, std::size_t n, std::uint8_t* out) {
      EXPECT_EQ(first, next);
      next = first + n;
      const std::uint8_t* const from = whole.data.data() + first * whole.row_bytes;
      std::copy(from, from + n * whole.row_bytes, out);
    });
  });
  EXPECT_EQ(next, values.size());
  EXPECT_EQ(test::read_bytes(folder.file("rows.fits")),
            test::read_bytes(folder.file("whole.fits")));
}

TEST(FitsWriter, MasksOfSixteenAndThirtyOneBitsComeBack) {
  for (const std::uint32_t top : {2U, 1000U, 32768U, 0x7fffffffU}) {
    const auto mask = mask_values(500 * 60, top);
    MemorySink sink;
    FitsWriter(sink).compressed_mask("MASK", mask, 500, 60);

    const auto reader = FitsReader::from_memory(sink.bytes(), "m.fits");
    const Hdu& hdu = reader.require("MASK");
    std::vector<std::uint32_t> back(hdu.pixels());
    reader.read_pixels<std::uint32_t>(hdu, back);

    EXPECT_EQ(hdu.bitpix, top <= 32768 ? 16 : 32);
    EXPECT_EQ(back, mask);
  }
}

TEST(FitsWriter, AFailureWhileBuildingLeavesNothing) {
  const TempFolder folder;

  EXPECT_THROW(write_fits(folder.file("a.fits"), Overwrite::kYes,
                          [](FitsWriter& w) {
                            build_sample(w);
                            throw Error(Status::kInternal, "stop");
                          }),
               Error);

  EXPECT_EQ(folder.count(), 0U);
}

TEST(FitsWriter, BracketsInNamesAreWrittenAndReadAsNames) {
  const TempFolder folder;
  const std::string path = folder.file("x[1:2](a)+1.fits.gz");
  write_fits(path, Overwrite::kYes, build_sample);

  EXPECT_EQ(FitsReader::open(path).hdus().size(), 5U);
  EXPECT_EQ(thrown_by([&] { write_fits(path, Overwrite::kNo, build_sample); }).status,
            Status::kOutputExists);
}

TEST(FitsWriter, CardsOfTheInputCannotBreakTheStructure) {
  HeaderCards h;
  h.cards = {"NAXIS1  =  77777", "BZERO   = 1", "END",
             "SIMPLE  = F",      "OK      = 1", "EXTNAME = 'OTHER'"};
  const std::vector<double> d{1, 2};
  MemorySink sink;
  FitsWriter(sink).image("A", std::span<const double>(d), {2}, PixelType::kFloat64, h);

  const auto reader = FitsReader::from_memory(sink.bytes(), "a.fits");

  EXPECT_EQ(reader.require("A").pixels(), 2U);
  EXPECT_TRUE(reader.require("A").header.has("OK"));
}

}  // namespace
}  // namespace loom::fits
