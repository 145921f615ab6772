// SPDX-License-Identifier: BSD-3-Clause
// Images of every type, plain and in every kind of tile, as cfitsio writes them: we read what it
// was given. (What astropy writes: python/tests/test_fits_values.py.)
#include <fitsio.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "loom/fits/fits_reader.hpp"
#include "loom/testing/test_files.hpp"

namespace loom::fits {
namespace {

using test::TempFolder;

constexpr long kWidth = 90, kHeight = 40;
constexpr std::size_t kPixels = kWidth * kHeight;

class FileOfCfitsio {
 public:
  FileOfCfitsio(const std::string& path, int code, bool tiled) {
    fits_create_diskfile(&file_, path.c_str(), &status_);
    if (code != 0) fits_set_compression_type(file_, code, &status_);
    long tile[2] = {31, 17};
    if (tiled) fits_set_tile_dim(file_, 2, tile, &status_);
  }
  ~FileOfCfitsio() { close(); }
  FileOfCfitsio(const FileOfCfitsio&) = delete;
  FileOfCfitsio& operator=(const FileOfCfitsio&) = delete;
  void create(int type) {
    long axes[2] = {kWidth, kHeight};
    fits_create_img(file_, type, 2, axes, &status_);
  }
  template <class T>
  void write(int type, std::vector<T> values, T null, bool with_null) {
    if (with_null) {
      fits_write_imgnull(file_, type, 1, values.size(), values.data(), &null, &status_);
    } else {
      fits_write_img(file_, type, 1, values.size(), values.data(), &status_);
    }
  }
  void key(const char* name, LONGLONG value) {
    fits_write_key(file_, TLONGLONG, name, &value, nullptr, &status_);
  }
  int close() {
    int status = status_;
    if (file_ != nullptr) fits_close_file(file_, &status);
    file_ = nullptr;
    return status;
  }
  fitsfile* get() { return file_; }
  int* status() { return &status_; }

 private:
  fitsfile* file_ = nullptr;
  int status_ = 0;
};

struct Type {
  const char* name;
  int image, data;  ///< cfitsio's codes
  double low, high;
  int bits;
};
constexpr std::array kTypes{
    Type{"u8", BYTE_IMG, TBYTE, 0, 255, 8},
    Type{"i8", SBYTE_IMG, TSBYTE, -128, 127, 8},
    Type{"i16", SHORT_IMG, TSHORT, -32768, 32767, 16},
    Type{"u16", USHORT_IMG, TUSHORT, 0, 65535, 16},
    Type{"i32", LONG_IMG, TINT, -2147483648.0, 2147483647.0, 32},
    Type{"u32", ULONG_IMG, TUINT, 0, 4294967295.0, 32},
    Type{"i64", LONGLONG_IMG, TLONGLONG, -4e15, 4e15, 64},
    Type{"u64", ULONGLONG_IMG, TULONGLONG, 0, 4e15, 64},
};
struct Code {
  const char* name;
  int code;
};
constexpr std::array kCodes{Code{"Plain", 0},      Code{"Rice", RICE_1},
                            Code{"Gzip1", GZIP_1}, Code{"Gzip2", GZIP_2},
                            Code{"Plio", PLIO_1},  Code{"Hcompress", HCOMPRESS_1}};

/// Numbers all over the range, its ends among them, and small ones.
std::vector<double> values_of(double low, double high) {
  std::vector<double> out(kPixels);
  std::uint64_t state = 77;
  for (std::size_t i = 0; i < out.size(); ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const double u = static_cast<double>(state >> 12) / 0x1p52;
    out[i] = i % 3 == 0 ? std::floor(20 * u) : std::floor(low + u * (high - low));
  }
  out[0] = low;
  out[1] = high;
  return out;
}

template <class T>
std::vector<T> as(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

void write_typed(FileOfCfitsio& file, const Type& type, const std::vector<double>& v) {
  switch (type.data) {
    case TBYTE:
      return file.write<unsigned char>(TBYTE, as<unsigned char>(v), 0, false);
    case TSBYTE:
      return file.write<signed char>(TSBYTE, as<signed char>(v), 0, false);
    case TSHORT:
      return file.write<short>(TSHORT, as<short>(v), 0, false);
    case TUSHORT:
      return file.write<unsigned short>(TUSHORT, as<unsigned short>(v), 0, false);
    case TINT:
      return file.write<int>(TINT, as<int>(v), 0, false);
    case TUINT:
      return file.write<unsigned>(TUINT, as<unsigned>(v), 0, false);
    case TULONGLONG:
      return file.write<ULONGLONG>(TULONGLONG, as<ULONGLONG>(v), 0, false);
    default:
      return file.write<LONGLONG>(TLONGLONG, as<LONGLONG>(v), 0, false);
  }
}

template <class T>
std::vector<T> read_image(const std::string& path) {
  const auto reader = FitsReader::open(path);
  for (const Hdu& hdu : reader.hdus()) {
    if (!hdu.is_image()) continue;
    std::vector<T> out(hdu.pixels());
    reader.read_pixels<T>(hdu, out);
    return out;
  }
  return {};
}

struct IntegerCase {
  Type type;
  Code code;
  bool tiled;
};

/// All that cfitsio can write: 64 bits it does not pack, PLIO has 24, and NOCOMPRESS it only reads.
std::vector<IntegerCase> integer_cases() {
  std::vector<IntegerCase> out;
  for (const Type& type : kTypes) {
    for (const Code& code : kCodes) {
      if (code.code != 0 && type.bits == 64) continue;
      if (code.code == PLIO_1 && type.image == ULONG_IMG) continue;
      for (const bool tiled : {false, true}) {
        if (code.code != 0 || !tiled) out.push_back({type, code, tiled});
      }
    }
  }
  return out;
}

class Integers : public testing::TestWithParam<IntegerCase> {};

TEST_P(Integers, AreTheNumbersThatCfitsioWasGiven) {
  const auto& [type, code, tiled] = GetParam();
  double low = type.low, high = type.high;
  if (code.code == PLIO_1) low = 0, high = std::min(high, 4000.0);
  if (code.code == HCOMPRESS_1) low = std::max(low, -3000.0), high = std::min(high, 3000.0);
  const auto values = values_of(low, high);
  const TempFolder folder;
  const std::string path = folder.file("i.fits");
  FileOfCfitsio file(path, code.code, tiled || code.code == HCOMPRESS_1);
  file.create(type.image);
  write_typed(file, type, values);
  ASSERT_EQ(file.close(), 0);

  const auto found = read_image<double>(path);
  const auto bits = read_image<std::uint32_t>(path);

  ASSERT_EQ(found.size(), kPixels);
  for (std::size_t i = 0; i < kPixels; ++i) {
    ASSERT_EQ(found[i], values[i]) << i;
    const auto whole = static_cast<std::int64_t>(values[i]);
    const std::uint64_t pattern =
        static_cast<std::uint64_t>(whole) & (type.bits == 64 ? ~0ULL : (1ULL << type.bits) - 1);
    const auto expected = static_cast<std::uint32_t>(pattern) | (pattern >> 32 ? 1U << 31 : 0U);
    ASSERT_EQ(bits[i], expected) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cfitsio, Integers, testing::ValuesIn(integer_cases()), [](const auto& i) {
  return std::string(i.param.type.name) + i.param.code.name + (i.param.tiled ? "Tiles" : "Rows");
});

class Undefined : public testing::TestWithParam<Code> {};

TEST_P(Undefined, IntegersAreNanAndHaveAllBits) {
  const TempFolder folder;
  const std::string path = folder.file("b.fits");
  FileOfCfitsio file(path, GetParam().code, GetParam().code == HCOMPRESS_1);
  file.create(LONG_IMG);
  file.key("BLANK", -99);
  auto values = as<int>(values_of(-50, 3000));
  values[100] = values[101] = values[2000] = 777777;
  file.write<int>(TINT, values, 777777, true);
  ASSERT_EQ(file.close(), 0);

  const auto found = read_image<double>(path);
  const auto bits = read_image<std::uint32_t>(path);

  for (std::size_t i = 0; i < kPixels; ++i) {
    const bool undefined = values[i] == 777777;
    ASSERT_EQ(std::isnan(found[i]), undefined) << i;
    if (undefined) {
      ASSERT_EQ(bits[i], 0xffffffffU);
    } else {
      ASSERT_EQ(found[i], values[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cfitsio, Undefined,
                         testing::Values(Code{"Plain", 0}, Code{"Rice", RICE_1},
                                         Code{"Gzip1", GZIP_1}, Code{"Gzip2", GZIP_2},
                                         Code{"Hcompress", HCOMPRESS_1}),
                         [](const auto& i) { return i.param.name; });

using FloatCase = std::tuple<int, Code, int, bool>;  // BITPIX, code, dither, tiles
class Quantised : public testing::TestWithParam<FloatCase> {};

constexpr double kUndefined = 1e20F;

/// Noise, exact zeros, undefined pixels, and rows of one value, which cannot be quantised.
std::vector<double> noise() {
  auto v = values_of(0, 100000);
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = 50 + 1e-4 * v[i];
    if (i % 50 == 7) v[i] = 0;
    if (i % 400 == 9) v[i] = kUndefined;
    if (i / kWidth == 20) v[i] = 3.25;
  }
  return v;
}

TEST_P(Quantised, FloatsAreRestoredAsCfitsioRestoresThem) {
  const auto& [bitpix, code, wanted, tiled] = GetParam();
  const bool has_two = code.code != HCOMPRESS_1;  // cfitsio has no SUBTRACTIVE_DITHER_2 for it
  const int dither = has_two ? wanted : std::min(wanted, SUBTRACTIVE_DITHER_1);
  const TempFolder folder;
  const std::string path = folder.file("q.fits");
  const auto values = noise();
  {
    FileOfCfitsio file(path, code.code, tiled || code.code == HCOMPRESS_1);
    fits_set_quantize_level(file.get(), 16, file.status());
    fits_set_quantize_method(file.get(), dither, file.status());
    fits_set_dither_seed(file.get(), 9999, file.status());
    file.create(bitpix);
    if (bitpix == FLOAT_IMG) {
      file.write<float>(TFLOAT, as<float>(values), kUndefined, true);
    } else {
      file.write<double>(TDOUBLE, values, kUndefined, true);
    }
    ASSERT_EQ(file.close(), 0);
  }
  std::vector<double> expected(kPixels);
  {
    int status = 0;
    fitsfile* file = nullptr;
    double null = std::nan("");
    fits_open_diskfile(&file, path.c_str(), READONLY, &status);
    fits_movabs_hdu(file, 2, nullptr, &status);
    fits_read_img(file, TDOUBLE, 1, kPixels, &null, expected.data(), nullptr, &status);
    fits_close_file(file, &status);
    ASSERT_EQ(status, 0);
  }

  const auto found = read_image<double>(path);

  const double tolerance = bitpix == FLOAT_IMG ? 60 * 1.2e-7 : 1e-12;
  for (std::size_t i = 0; i < kPixels; ++i) {
    ASSERT_EQ(std::isnan(found[i]), std::isnan(expected[i])) << i;
    if (std::isnan(found[i])) continue;
    ASSERT_NEAR(found[i], expected[i], tolerance) << i;
    ASSERT_NEAR(found[i], values[i], 1) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cfitsio, Quantised,
    testing::Combine(testing::Values(FLOAT_IMG, DOUBLE_IMG),
                     testing::Values(Code{"Rice", RICE_1}, Code{"Gzip1", GZIP_1},
                                     Code{"Gzip2", GZIP_2}, Code{"Hcompress", HCOMPRESS_1}),
                     testing::Values(NO_DITHER, SUBTRACTIVE_DITHER_1, SUBTRACTIVE_DITHER_2),
                     testing::Bool()),
    [](const auto& i) {
      return std::string(std::get<0>(i.param) == FLOAT_IMG ? "f32" : "f64") +
             std::get<1>(i.param).name + std::to_string(std::get<2>(i.param) + 1) +
             (std::get<3>(i.param) ? "Tiles" : "Rows");
    });

}  // namespace
}  // namespace loom::fits
