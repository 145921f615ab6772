// SPDX-License-Identifier: BSD-3-Clause
// PNG by hand: a signature, five chunks, one zlib stream. Stream and checksums are made by files/
// (the one place that knows libdeflate).
#include "fiberloom/recipes/report/png.hpp"

#include <span>
#include <string_view>

#include "loom/files/gzip.hpp"

namespace fiberloom::report {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put32(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

void chunk(Bytes& out, std::string_view type, std::span<const std::uint8_t> data) {
  put32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = out.size();
  out.insert(out.end(), type.begin(), type.end());
  out.insert(out.end(), data.begin(), data.end());
  put32(out, crc32(0, std::span<const std::uint8_t>(out).subspan(start)));
}

}  // namespace

std::vector<std::uint8_t> encode_png(const Array2D<std::uint8_t>& pixels, const Palette& palette) {
  Bytes header, colours, alpha(palette.size(), 255), rows;
  put32(header, static_cast<std::uint32_t>(pixels.cols()));
  put32(header, static_cast<std::uint32_t>(pixels.rows()));
  for (const int value : {8, 3, 0, 0, 0}) header.push_back(static_cast<std::uint8_t>(value));
  for (const Rgb& c : palette) {
    for (const std::uint8_t value : {c.red, c.green, c.blue}) colours.push_back(value);
  }
  alpha[kNothing] = 0;
  rows.reserve(pixels.size() + pixels.rows());
  for (std::size_t r = 0; r < pixels.rows(); ++r) {
    rows.push_back(0);  // no filter: they suit photographs, not palettes
    rows.insert(rows.end(), pixels.row(r), pixels.row(r) + pixels.cols());
  }
  Bytes out{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  chunk(out, "IHDR", header);
  chunk(out, "PLTE", colours);
  chunk(out, "tRNS", alpha);
  chunk(out, "IDAT", zlib(rows));
  chunk(out, "IEND", {});
  return out;
}

}  // namespace fiberloom::report
