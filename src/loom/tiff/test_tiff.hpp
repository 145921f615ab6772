// SPDX-License-Identifier: BSD-3-Clause
// TIFF files built byte by byte, for tests and as seeds of the fuzzer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "loom/files/gzip.hpp"

namespace loom::test {

/// Welch's encoder: the codes of up to 12 bits, a clear code before the table is full.
inline std::vector<std::uint8_t> pack_lzw(const std::vector<std::uint8_t>& in) {
  using Bytes = std::vector<std::uint8_t>;
  Bytes out;
  std::uint32_t held = 0;
  unsigned held_bits = 0, bits = 9;
  const auto put = [&](std::size_t code) {
    held = held << bits | static_cast<std::uint32_t>(code);
    for (held_bits += bits; held_bits >= 8; held_bits -= 8) {
      out.push_back(static_cast<std::uint8_t>(held >> (held_bits - 8)));
    }
  };
  std::map<Bytes, std::size_t> words;
  const auto clear = [&] {
    put(256);
    bits = 9;
    words.clear();
    for (int i = 0; i < 256; ++i)
      words[{static_cast<std::uint8_t>(i)}] = static_cast<std::size_t>(i);
  };
  clear();
  std::size_t next = 258;
  Bytes word;
  for (const std::uint8_t byte : in) {
    Bytes longer = word;
    longer.push_back(byte);
    if (words.count(longer) > 0) {
      word = longer;
      continue;
    }
    put(words[word]);
    words[longer] = next++;
    if (next == 512 || next == 1024 || next == 2048) ++bits;
    if (next == 4095) {
      clear();
      next = 258;
    }
    word = {byte};
  }
  put(words[word]);
  put(257);
  if (held_bits > 0) out.push_back(static_cast<std::uint8_t>(held << (8 - held_bits)));
  return out;
}

/// A file of pages, laid out as asked for.
struct TiffBuild {
  using Bytes = std::vector<std::uint8_t>;
  bool big_endian = false, version_43 = false;
  std::size_t width = 5, height = 4, strip_rows = 3, pages = 1;
  std::uint64_t bits = 16, format = 1, compression = 1, predictor = 1;
  std::map<std::uint16_t, std::uint64_t> more =
      {};  ///< SHORT tags that replace or come in addition
  std::string description = {};
  /// The value of a pixel as its bits.
  std::function<std::uint64_t(std::size_t page, std::size_t row, std::size_t column)> value =
      [](std::size_t p, std::size_t r, std::size_t c) { return 1000 * p + 100 * r + c; };

  void number(Bytes& out, std::uint64_t v, std::size_t size) const {
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t shift = 8 * (big_endian ? size - 1 - i : i);
      out.push_back(static_cast<std::uint8_t>(v >> shift));
    }
  }
  [[nodiscard]] Bytes strip(std::size_t page, std::size_t first, std::size_t end) const {
    Bytes raw;
    for (std::size_t r = first; r < end; ++r) {
      for (std::size_t c = 0; c < width; ++c) {
        std::uint64_t v = value(page, r, c);
        if (predictor == 2 && c > 0) v -= value(page, r, c - 1);
        number(raw, v, bits / 8);
      }
    }
    if (compression == 5) return pack_lzw(raw);
    return compression == 8 ? zlib(raw) : raw;
  }
  [[nodiscard]] Bytes bytes() const {
    const std::size_t word = version_43 ? 8 : 4;
    Bytes out;
    out.insert(out.end(), 2, big_endian ? 'M' : 'I');
    number(out, version_43 ? 43 : 42, 2);
    if (version_43) number(out, 8, 4);
    std::size_t link = out.size();  // where the next page's place goes
    number(out, 0, word);
    const auto put = [&](std::size_t at, std::uint64_t v) {
      Bytes piece;
      number(piece, v, word);
      std::copy(piece.begin(), piece.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
    };
    for (std::size_t p = 0; p < pages; ++p) {
      std::vector<std::uint64_t> offsets, sizes;
      for (std::size_t r = 0; r < height; r += strip_rows) {
        const Bytes packed = strip(p, r, std::min(height, r + strip_rows));
        offsets.push_back(out.size());
        sizes.push_back(packed.size());
        out.insert(out.end(), packed.begin(), packed.end());
      }
      const auto list = [&](const std::vector<std::uint64_t>& values) {
        const std::uint64_t at = values.size() == 1 ? values[0] : out.size();
        if (values.size() > 1) {
          for (const std::uint64_t v : values) number(out, v, word);
        }
        return at;
      };
      const std::uint64_t offsets_at = list(offsets), sizes_at = list(sizes);
      const std::uint64_t text_at = out.size();
      out.insert(out.end(), description.begin(), description.end());
      out.push_back(0);
      struct Tag {
        std::uint64_t type, count, value;
      };
      std::map<std::uint16_t, Tag> tags{
          {256, {4, 1, width}},       {257, {3, 1, height}},    {258, {3, 1, bits}},
          {259, {3, 1, compression}}, {262, {3, 1, 1}},         {277, {3, 1, 1}},
          {278, {4, 1, strip_rows}},  {317, {3, 1, predictor}}, {339, {3, 1, format}}};
      const std::uint64_t place = version_43 ? 16 : 4;
      tags[273] = {place, offsets.size(), offsets_at};
      tags[279] = {place, sizes.size(), sizes_at};
      if (!description.empty()) tags[270] = {2, description.size() + 1, text_at};
      for (const auto& [tag, v] : more) tags[tag] = {3, 1, v};
      put(link, out.size());
      number(out, tags.size(), version_43 ? 8 : 2);
      for (const auto& [name, tag] : tags) {
        number(out, name, 2);
        number(out, tag.type, 2);
        number(out, tag.count, word);
        const std::size_t size = tag.type == 3 ? 2 : tag.type == 4 ? 4 : word;
        const bool inside = tag.count == 1 && tag.type != 2;
        number(out, tag.value, inside ? size : word);
        for (std::size_t i = size; inside && i < word; ++i) out.push_back(0);
      }
      link = out.size();
      number(out, 0, word);
    }
    return out;
  }
};

}  // namespace loom::test
