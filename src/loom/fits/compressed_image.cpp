// SPDX-License-Identifier: BSD-3-Clause
// Tiles to pixels: decode, undo the quantisation of floats, scale, put in place.
#include "loom/fits/compressed_image.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "loom/base/error.hpp"
#include "loom/files/byte_order.hpp"
#include "loom/files/gzip.hpp"
#include "loom/fits/cfitsio_image.hpp"
#include "loom/fits/pixel_convert.hpp"
#include "loom/fits/tile_codec.hpp"
#include "loom/fits/tile_layout.hpp"

namespace loom::fits {
namespace {

constexpr std::size_t kDitherCount = 10000;
constexpr std::int32_t kDitherZero = -2147483646;  ///< an exact 0 under SUBTRACTIVE_DITHER_2

/// The random numbers of subtractive dithering (standard, appendix I).
std::vector<float> dither_table() {
  std::vector<float> out(kDitherCount);
  double seed = 1;
  for (float& r : out) {
    const double product = 16807.0 * seed;
    seed = product - 2147483647.0 * std::floor(product / 2147483647.0);
    r = static_cast<float>(seed / 2147483647.0);
  }
  return out;
}

/// GZIP_2 stores all first bytes of the values, then all second ones ...
std::vector<std::uint8_t> unshuffle(std::span<const std::uint8_t> in, std::size_t width) {
  std::vector<std::uint8_t> out(in.size());
  const std::size_t n = in.size() / width;
  for (std::size_t b = 0; b < width; ++b) {
    for (std::size_t i = 0; i < n; ++i) out[i * width + b] = in[b * n + i];
  }
  return out;
}

/// Where tile t lies: first pixel and length along each axis.
struct Box {
  std::vector<std::size_t> first, length;
  [[nodiscard]] std::size_t pixels() const {
    std::size_t n = 1;
    for (const std::size_t l : length) n *= l;
    return n;
  }
};

Box tile_box(const TileTable& table, const Hdu& hdu, std::size_t t) {
  Box box;
  for (std::size_t a = 0; a < hdu.axes.size(); ++a) {
    const std::size_t index = t % table.tiles[a];
    t /= table.tiles[a];
    box.first.push_back(index * table.tile[a]);
    box.length.push_back(std::min(table.tile[a], hdu.axes[a] - box.first.back()));
  }
  return box;
}

/// Calls f(first pixel in the tile, first in the image) for each run along the first axis.
template <class F>
void for_each_run(const Hdu& hdu, const Box& box, F&& f) {
  const std::size_t run = box.length[0], pixels = box.pixels();
  for (std::size_t at = 0, line = 0; at < pixels; at += run, ++line) {
    std::size_t rest = line, stride = hdu.axes[0], target = box.first[0];
    for (std::size_t a = 1; a < hdu.axes.size(); ++a) {
      target += (box.first[a] + rest % box.length[a]) * stride;
      rest /= box.length[a];
      stride *= hdu.axes[a];
    }
    f(at, target);
  }
}

/// Decodes tiles of one image into pixels of T, one after the other.
template <class T>
class TileDecoder {
 public:
  TileDecoder(std::string label, const Hdu& hdu, const TileTable& table)
      : label_(std::move(label)),
        hdu_(hdu),
        table_(table),
        image_scale_{hdu.bscale, hdu.bzero, {}} {
    if (table_.dither != Dither::kNone) random_ = dither_table();
  }

  void decode(std::size_t t, std::span<T> out) {
    if (const auto packed = table_.cell(TileTable::Cell::kCompressed, t, packed_);
        !packed.empty()) {
      return decode_main(packed, t, out);
    }
    if (const auto packed = table_.cell(TileTable::Cell::kGzip, t, packed_); !packed.empty()) {
      return decode_plain(inflate(packed, t, out.size() * 8).view(), t, out);
    }
    if (const auto raw = table_.cell(TileTable::Cell::kRaw, t, packed_); !raw.empty()) {
      return decode_plain(raw, t, out);
    }
    table_.corrupt_tile(t, "no data");
  }

 private:
  [[nodiscard]] bool is_float() const { return hdu_.bitpix < 0; }
  /// Are the main cells integers, whatever the image is?
  [[nodiscard]] bool quantised() const { return !table_.lossless; }

  Bytes inflate(std::span<const std::uint8_t> packed, std::size_t t, std::size_t max_bytes) {
    return gunzip(packed, label_ + ": " + hdu_.label() + ": tile " + std::to_string(t + 1),
                  max_bytes + 64);
  }

  void decode_main(std::span<const std::uint8_t> packed, std::size_t t, std::span<T> out) {
    const std::string& code = table_.code;
    if (code == "GZIP_1" || code == "GZIP_2") return decode_gzip(packed, t, out);
    if (code == "NOCOMPRESS") {
      return quantised() ? decode_stored_integers(packed, t, out) : decode_plain(packed, t, out);
    }
    integers_.resize(out.size());
    if (is_float() && !quantised()) {
      table_.corrupt("floats in " + code + " tiles, but neither ZSCALE nor a column of that name");
    }
    bool good = false;
    if (code == "RICE_1" || code == "RICE_ONE") {
      good = rice_decode(packed, table_.rice_bytes, table_.rice_block, integers_);
    } else if (code == "PLIO_1") {
      good = plio_decode(packed, integers_);
    } else if (code == "HCOMPRESS_1") {
      hcompress_tile(t);
      good = true;
    } else {
      table_.unsupported("compression ZCMPTYPE " + code + " is not supported");
    }
    if (!good) table_.corrupt_tile(t, "damaged " + code + " data");
    from_integers(t, out);
  }

  void decode_gzip(std::span<const std::uint8_t> packed, std::size_t t, std::span<T> out) {
    const Bytes bytes = inflate(packed, t, out.size() * 8);
    const bool ints = quantised();
    const std::size_t width = ints ? 4 : static_cast<std::size_t>(std::abs(hdu_.bitpix) / 8);
    // Older files keep 8- and 16-bit tiles as 32-bit integers: the length tells.
    const std::size_t found = bytes.size == out.size() * 4 ? 4 : width;
    if (bytes.size != out.size() * found) {
      table_.corrupt_tile(t, std::to_string(bytes.size) + " bytes unpacked, expected " +
                                 std::to_string(out.size() * width));
    }
    std::vector<std::uint8_t> ordered;
    std::span<const std::uint8_t> view = bytes.view();
    if (table_.code == "GZIP_2") {
      ordered = unshuffle(view, found);
      view = ordered;
    }
    if (!ints && (found == width)) return decode_plain(view, t, out);
    if (is_float() && !ints) table_.corrupt_tile(t, "32-bit data for a 64-bit image");
    decode_stored_integers(view, t, out);
  }

  /// 32-bit integers, whatever the type of the image.
  void decode_stored_integers(std::span<const std::uint8_t> bytes, std::size_t t,
                              std::span<T> out) {
    if (bytes.size() != out.size() * 4) {
      table_.corrupt_tile(
          t, std::to_string(bytes.size()) + " bytes, expected " + std::to_string(out.size() * 4));
    }
    integers_.resize(out.size());
    from_big_endian<std::int32_t>(bytes.data(), integers_.data(), integers_.size());
    from_integers(t, out);
  }

  /// Pixels as they stand in an uncompressed image.
  void decode_plain(std::span<const std::uint8_t> bytes, std::size_t t, std::span<T> out) {
    switch (hdu_.bitpix) {
      case 8:
        return convert<std::uint8_t>(bytes, t, out);
      case 16:
        return convert<std::int16_t>(bytes, t, out);
      case 32:
        return convert<std::int32_t>(bytes, t, out);
      case 64:
        return convert<std::int64_t>(bytes, t, out);
      default:
        break;
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (hdu_.bitpix == -32) return convert<float>(bytes, t, out);
      return convert<double>(bytes, t, out);
    }
  }

  template <class File>
  void convert(std::span<const std::uint8_t> bytes, std::size_t t, std::span<T> out) {
    if (bytes.size() != out.size() * sizeof(File)) {
      table_.corrupt_tile(t, std::to_string(bytes.size()) + " bytes, expected " +
                                 std::to_string(out.size() * sizeof(File)));
    }
    std::vector<File> values(out.size());
    from_big_endian<File>(bytes.data(), values.data(), values.size());
    PixelScale scale = image_scale_;
    if constexpr (std::is_integral_v<File>) scale.blank = table_.blank(t);
    convert_pixels<T>(values.data(), out.data(), out.size(), scale);
  }

  /// integers_ are the pixels of the image, or floats quantised.
  void from_integers(std::size_t t, std::span<T> out) {
    if constexpr (std::is_floating_point_v<T>) {
      if (is_float()) return restore_floats(t, out);
    }
    // cfitsio puts unsigned integers of 16 bits into PLIO lists as they are, which know no signs.
    if (table_.code == "PLIO_1" && hdu_.bitpix == 16 && hdu_.bzero == 32768) {
      for (std::int32_t& v : integers_) v -= 32768;
    }
    PixelScale scale = image_scale_;
    scale.blank = table_.blank(t);
    if constexpr (std::is_integral_v<T>) {
      if (hdu_.bitpix < 32) return narrow_bits(scale, out);
    }
    convert_pixels<T>(integers_.data(), out.data(), out.size(), scale);
  }

  /// bits_of() in the width of the image's own type, as a plain loop: a mask has 17 million pixels.
  void narrow_bits(const PixelScale& scale, std::span<T> out) {
    const std::uint32_t width = hdu_.bitpix == 8 ? 0xffU : 0xffffU;
    if (std::abs(scale.zero) > 65536) table_.unsupported("BZERO beyond the type of the image");
    const auto shift = static_cast<std::uint32_t>(static_cast<std::int32_t>(scale.zero));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::uint32_t value = static_cast<std::uint32_t>(integers_[i]) + shift;
      out[i] = value & (static_cast<std::int32_t>(value) < 0 ? width : ~0U);
    }
    if (!scale.blank) return;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (integers_[i] == *scale.blank) out[i] = kBitsUndefined;
    }
  }

  /// value = (q - r + 0.5) ZSCALE + ZZERO with dither r, q ZSCALE + ZZERO without.
  void restore_floats(std::size_t t, std::span<T> out) {
    const double scale = table_.scale(t), zero = table_.zero(t);
    const std::int64_t blank = table_.blank(t).value_or(-2147483648LL);
    const bool dithered = table_.dither != Dither::kNone;
    std::size_t seed = (t + static_cast<std::size_t>(table_.dither_seed) - 1) % kDitherCount;
    const auto start = [&] { return static_cast<std::size_t>(random_[seed] * 500.0F); };
    std::size_t next = dithered ? start() : 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int32_t q = integers_[i];
      double offset = 0;
      if (dithered) {
        offset = 0.5 - static_cast<double>(random_[next]);
        if (++next == kDitherCount) {
          seed = (seed + 1) % kDitherCount;
          next = start();
        }
      }
      double v = (static_cast<double>(q) + offset) * scale + zero;
      if (q == blank) v = std::nan("");
      if (q == kDitherZero && table_.dither == Dither::kTwo) v = 0;
      out[i] = convert_pixel<T>(v, image_scale_);
    }
  }

  /// Fills integers_ from the image that cfitsio unpacked, whole, when it was first asked for.
  void hcompress_tile(std::size_t t) {
    if (unpacked_.empty()) unpacked_ = unpack_hcompress(table_, hdu_);
    const Box box = tile_box(table_, hdu_, t);
    for_each_run(hdu_, box, [&](std::size_t in_tile, std::size_t in_image) {
      std::copy_n(unpacked_.begin() + static_cast<std::ptrdiff_t>(in_image), box.length[0],
                  integers_.begin() + static_cast<std::ptrdiff_t>(in_tile));
    });
  }

  std::string label_;
  const Hdu& hdu_;
  const TileTable& table_;
  std::vector<std::uint8_t> packed_;
  std::vector<std::int32_t> unpacked_;
  PixelScale image_scale_;
  std::vector<float> random_;
  std::vector<std::int32_t> integers_;
};

}  // namespace

template <class T>
void read_compressed(const ByteSource& source, const Hdu& hdu, std::span<T> out,
                     Executor& executor) {
  const TileTable table(source, hdu);
  // An image that cfitsio unpacks is unpacked whole, by whoever has tiles of it.
  const std::size_t unit = table.code == "HCOMPRESS_1" ? table.count : 1;
  run_in_parts(executor, table.count, unit, [&](std::size_t first, std::size_t count) {
    TileDecoder<T> decoder(source.label(), hdu, table);
    std::vector<T> tile;
    for (std::size_t t = first; t < first + count; ++t) {
      const Box box = tile_box(table, hdu, t);
      tile.resize(box.pixels());
      decoder.decode(t, tile);
      for_each_run(hdu, box, [&](std::size_t in_tile, std::size_t in_image) {
        std::copy_n(tile.begin() + static_cast<std::ptrdiff_t>(in_tile), box.length[0],
                    out.begin() + static_cast<std::ptrdiff_t>(in_image));
      });
    }
  });
}

template void read_compressed<float>(const ByteSource&, const Hdu&, std::span<float>, Executor&);
template void read_compressed<double>(const ByteSource&, const Hdu&, std::span<double>, Executor&);
template void read_compressed<std::uint32_t>(const ByteSource&, const Hdu&,
                                             std::span<std::uint32_t>, Executor&);

}  // namespace loom::fits
