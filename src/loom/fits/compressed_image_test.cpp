// SPDX-License-Identifier: BSD-3-Clause
// Our unpacking against cfitsio's, for images that cfitsio packed; and hostile bytes.
#include "loom/fits/compressed_image.hpp"

#include <fitsio.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "loom/fits/fits_reader.hpp"
#include "loom/fits/fits_writer.hpp"
#include "loom/fits/tile_codec.hpp"
#include "loom/fits/verify.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"

namespace loom::fits {
namespace {

using test::TempFolder;

struct Case {
  const char* name;
  int code;    ///< RICE_1 ...
  int bitpix;  ///< type of the image
  float quantise;
  int dither;
  bool tiled;  ///< tiles of 37 x 11 instead of rows
};

constexpr long kNx = 130, kNy = 70;

std::vector<double> picture(int bitpix) {
  std::vector<double> out(kNx * kNy);
  std::uint32_t state = 11;
  for (std::size_t i = 0; i < out.size(); ++i) {
    state = state * 1664525U + 1013904223U;
    const double noise = (state >> 8) / 16777216.0;
    out[i] = i % 400 < 100 ? 0 : 20 + 30 * std::sin(0.01 * static_cast<double>(i)) + 10 * noise;
    if (bitpix > 0) out[i] = std::floor(out[i]);
    if (bitpix == 32 && i % 97 == 0) out[i] *= 300000;
  }
  return out;
}

template <class T>
void write_as(fitsfile* file, int type, const std::vector<double>& values, int* status) {
  std::vector<T> typed(values.size());
  std::transform(values.begin(), values.end(), typed.begin(),
                 [](double v) { return static_cast<T>(v); });
  fits_write_img(file, type, 1, kNx * kNy, typed.data(), status);
}

/// Packs with cfitsio and returns its own reading.
std::vector<double> pack_with_cfitsio(const std::string& path, const Case& c) {
  int status = 0;
  fitsfile* file = nullptr;
  long axes[2] = {kNx, kNy}, tile[2] = {37, 11};
  fits_create_diskfile(&file, path.c_str(), &status);
  fits_set_compression_type(file, c.code, &status);
  if (c.tiled) fits_set_tile_dim(file, 2, tile, &status);
  if (c.bitpix < 0) fits_set_quantize_level(file, c.quantise, &status);
  if (c.dither != 0) fits_set_quantize_method(file, c.dither, &status);
  if (c.dither != 0) fits_set_dither_seed(file, 42, &status);
  fits_create_img(file, c.bitpix, 2, axes, &status);
  auto values = picture(c.bitpix);
  if (c.code == PLIO_1) {  // knows no negative values
    for (double& v : values) v = std::abs(v);
  }
  // cfitsio packs only what has the type of the image.
  switch (c.bitpix) {
    case 8:
      write_as<unsigned char>(file, TBYTE, values, &status);
      break;
    case 16:
      write_as<short>(file, TSHORT, values, &status);
      break;
    case 32:
      write_as<int>(file, TINT, values, &status);
      break;
    case -32:
      write_as<float>(file, TFLOAT, values, &status);
      break;
    default:
      write_as<double>(file, TDOUBLE, values, &status);
  }
  fits_close_file(file, &status);
  EXPECT_EQ(status, 0);

  std::vector<double> out(values.size());
  fits_open_diskfile(&file, path.c_str(), READONLY, &status);
  fits_movabs_hdu(file, 2, nullptr, &status);
  fits_read_img(file, TDOUBLE, 1, kNx * kNy, nullptr, out.data(), nullptr, &status);
  fits_close_file(file, &status);
  EXPECT_EQ(status, 0);
  return out;
}

class Packed : public testing::TestWithParam<Case> {};

TEST_P(Packed, UnpacksToTheSameValuesAsCfitsio) {
  const TempFolder folder;
  const std::string path = folder.file("packed.fits");
  const auto expected = pack_with_cfitsio(path, GetParam());

  const auto reader = FitsReader::open(path);
  const Hdu& hdu = reader.hdus().at(1);
  ASSERT_EQ(hdu.kind, HduKind::kCompressedImage);
  std::vector<double> found(hdu.pixels());
  reader.read_pixels<double>(hdu, found);

  ASSERT_EQ(found.size(), expected.size());
  // cfitsio rounds restored floats to their own type; we stay in double.
  const double tolerance = GetParam().bitpix == -32 ? 60 * 1.2e-7
                           : GetParam().bitpix < 0  ? 1e-12
                                                    : 0;
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance) << i;

  TestThreads threads(3);
  const auto shared = FitsReader::open(path, Verify::kYes, &threads);
  std::vector<double> again(found.size());
  shared.read_pixels<double>(shared.hdus().at(1), again);
  EXPECT_EQ(std::memcmp(again.data(), found.data(), found.size() * sizeof(double)), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Codecs, Packed,
    testing::Values(
        Case{"Rice8", RICE_1, 8, 0, 0, false}, Case{"Rice16", RICE_1, 16, 0, 0, false},
        Case{"Rice32", RICE_1, 32, 0, 0, false}, Case{"Rice16Tiles", RICE_1, 16, 0, 0, true},
        Case{"RiceFloat", RICE_1, -32, 4, SUBTRACTIVE_DITHER_1, false},
        Case{"RiceFloat2Tiles", RICE_1, -32, 4, SUBTRACTIVE_DITHER_2, true},
        Case{"RiceDoubleNoDither", RICE_1, -64, 8, NO_DITHER, false},
        Case{"Gzip16", GZIP_1, 16, 0, 0, false}, Case{"Gzip2of32", GZIP_2, 32, 0, 0, true},
        Case{"GzipFloatLossless", GZIP_1, -32, 0, 0, false},
        Case{"Gzip2DoubleLossless", GZIP_2, -64, 0, 0, true},
        Case{"GzipFloatQuantised", GZIP_2, -32, 4, SUBTRACTIVE_DITHER_1, false},
        Case{"Plio", PLIO_1, 16, 0, 0, false}, Case{"Hcompress", HCOMPRESS_1, 16, 0, 0, false}),
    [](const auto& i) { return i.param.name; });

TEST(CompressedMask, ItsSumsAreThoseOfTheImageThatCfitsioUnpacks) {
  for (const std::uint32_t top : {7U, 100000U}) {  // 16 bits, 32 bits
    const TempFolder folder;
    const std::string path = folder.file("mask.fits"), plain = folder.file("plain.fits");
    std::vector<std::uint32_t> mask(131 * 7);
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 31 == 0 ? top : 0;
    HeaderCards cards;
    cards.set("CAMERA", "r0", "a card of the image");
    write_fits(path, Overwrite::kYes,
               [&](FitsWriter& writer) { writer.compressed_mask("MASK", mask, 131, 7, cards); });

    int status = 0, data_good = 0, all_good = 0;
    fitsfile *in = nullptr, *out = nullptr;
    fits_open_diskfile(&in, path.c_str(), READONLY, &status);
    fits_movabs_hdu(in, 2, nullptr, &status);
    fits_create_diskfile(&out, plain.c_str(), &status);
    fits_create_img(out, BYTE_IMG, 0, nullptr, &status);
    fits_img_decompress(in, out, &status);
    fits_close_file(in, &status);
    fits_close_file(out, &status);
    fits_open_diskfile(&out, plain.c_str(), READONLY, &status);
    fits_movabs_hdu(out, 2, nullptr, &status);
    fits_verify_chksum(out, &data_good, &all_good, &status);
    fits_close_file(out, &status);

    ASSERT_EQ(status, 0);
    EXPECT_EQ(data_good, 1);
    EXPECT_EQ(all_good, 1);
    verify_checksums(path);
  }
}

TEST(Rice, DecodesWhatItEncoded) {
  for (const int bytes : {1, 2, 4}) {
    const std::int64_t top = bytes == 1 ? 255 : bytes == 2 ? 32767 : 2147483647;
    for (const std::int64_t range : {std::int64_t{1}, std::int64_t{5}, top / 3, top}) {
      std::vector<std::int32_t> in(1003);
      std::uint32_t state = 5;
      for (auto& v : in) {
        state = state * 1664525U + 1013904223U;
        v = static_cast<std::int32_t>((state >> 1) % (range + 1));
        if (bytes == 4 && (state & 1U) != 0) v = -v;
      }
      std::vector<std::int32_t> out(in.size());

      ASSERT_TRUE(rice_decode(rice_encode(in, bytes, 32), bytes, 32, out));

      EXPECT_EQ(out, in) << bytes << " bytes, range " << range;
    }
  }
}

TEST(Rice, NeverReadsBeyondItsInput) {
  std::vector<std::int32_t> in(500, 3), out(500);
  in[250] = 20000;
  const auto whole = rice_encode(in, 2, 32);
  for (std::size_t n = 0; n + 1 < whole.size(); ++n) {
    const std::vector<std::uint8_t> cut(whole.begin(),
                                        whole.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_FALSE(rice_decode(cut, 2, 32, out)) << n;
  }
}

TEST(Codecs, SurviveRandomBytes) {
  std::uint32_t state = 9;
  std::vector<std::int32_t> out(300);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint8_t> in(static_cast<std::size_t>(round % 90));
    for (auto& b : in) {
      state = state * 1664525U + 1013904223U;
      b = static_cast<std::uint8_t>(state >> 24);
    }
    for (const int bytes : {1, 2, 4}) (void)rice_decode(in, bytes, 32, out);
    (void)plio_decode(in, out);
  }
}

}  // namespace
}  // namespace loom::fits
