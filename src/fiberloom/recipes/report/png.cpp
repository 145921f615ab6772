// SPDX-License-Identifier: BSD-3-Clause
// PNG by hand: a signature, five chunks, one deflate stream. The stream comes out of the gzip
// member that fits/ makes (the one place that knows libdeflate), its header and trailer exchanged
// for zlib's.
#include "fiberloom/recipes/report/png.hpp"

#include <span>
#include <string_view>

#include "loom/files/gzip.hpp"

namespace fiberloom::report {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kGzipHeader = 10, kGzipTrailer = 8;  // a member without name or comment

void put32(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = ~0U;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

std::uint32_t adler32(std::span<const std::uint8_t> bytes) {
  std::uint32_t a = 1, b = 0;
  for (const std::uint8_t byte : bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return (b << 16) | a;
}

void chunk(Bytes& out, std::string_view type, std::span<const std::uint8_t> data) {
  put32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = out.size();
  out.insert(out.end(), type.begin(), type.end());
  out.insert(out.end(), data.begin(), data.end());
  put32(out, crc32(std::span<const std::uint8_t>(out).subspan(start)));
}

Bytes zlib(std::span<const std::uint8_t> bytes) {
  const Bytes member = gzip(bytes);
  Bytes out;
  out.reserve(member.size());
  for (const int value : {0x78, 0x9c}) out.push_back(static_cast<std::uint8_t>(value));
  out.insert(out.end(), member.begin() + kGzipHeader, member.end() - kGzipTrailer);
  put32(out, adler32(bytes));
  return out;
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
