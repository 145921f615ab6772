// SPDX-License-Identifier: BSD-3-Clause
// libdeflate: 2-3 times as fast as zlib both ways, but for whole buffers only.
#include "loom/files/gzip.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "loom/base/error.hpp"
#include "loom/files/byte_order.hpp"
#include "loom/files/huge_pages.hpp"

namespace loom {
namespace {

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};
struct FreeCompressor {
  void operator()(libdeflate_compressor* c) const { libdeflate_free_compressor(c); }
};

/// DEFLATE cannot expand by more than this.
constexpr std::size_t kMaxRatio = 1032;

[[noreturn]] void corrupt(const std::string& label, const std::string& what) {
  throw Error(Status::kCorrupt, label + ": gzip: " + what);
}

/// The length that the last four bytes promise, kept within what is possible: they are only a hint
/// (the last member's, modulo 2^32; noise in a truncated file).
std::size_t size_hint(std::span<const std::uint8_t> packed, std::size_t limit) {
  const auto isize = load_le<std::uint32_t>(packed.data() + packed.size() - 4);
  return std::clamp<std::size_t>(isize, std::min<std::size_t>(65536, limit), limit);
}

void grow(Bytes& out, std::size_t capacity) {
  Buffer<std::uint8_t> bigger(capacity);
  advise_huge_pages(bigger.data(), bigger.size());
  std::copy_n(out.storage.data(), out.size, bigger.data());
  out.storage = std::move(bigger);
}

std::vector<std::uint8_t> pack(std::span<const std::uint8_t> bytes, int level,
                               decltype(libdeflate_gzip_compress_bound)* bound,
                               decltype(libdeflate_gzip_compress)* compress) {
  const std::unique_ptr<libdeflate_compressor, FreeCompressor> engine(
      libdeflate_alloc_compressor(level));
  if (!engine) throw Error(Status::kInternal, "libdeflate: out of memory", ENOMEM);
  std::vector<std::uint8_t> out(bound(engine.get(), bytes.size()));
  const std::size_t size =
      compress(engine.get(), bytes.data(), bytes.size(), out.data(), out.size());
  if (size == 0) throw Error(Status::kInternal, "libdeflate: cannot compress");
  out.resize(size);
  return out;
}

}  // namespace

bool is_gzip(std::span<const std::uint8_t> bytes) noexcept {
  return bytes.size() >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8;
}

Bytes gunzip(std::span<const std::uint8_t> packed, const std::string& label,
             std::size_t max_bytes) {
  if (packed.size() < 18) corrupt(label, "truncated: " + std::to_string(packed.size()) + " bytes");
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> engine(
      libdeflate_alloc_decompressor());
  if (!engine) throw Error(Status::kInternal, "libdeflate: out of memory", ENOMEM);
  const std::size_t limit = std::min(max_bytes, kMaxRatio * packed.size() + 64);

  Bytes out;
  out.storage = Buffer<std::uint8_t>(size_hint(packed, limit));
  advise_huge_pages(out.storage.data(), out.storage.size());
  std::size_t at = 0;
  while (at < packed.size()) {
    const auto rest = packed.subspan(at);
    if (at > 0 && std::all_of(rest.begin(), rest.end(), [](auto b) { return b == 0; })) break;
    if (!is_gzip(rest)) corrupt(label, "garbage after byte " + std::to_string(at));
    std::size_t used = 0, made = 0;
    const auto result = libdeflate_gzip_decompress_ex(engine.get(), rest.data(), rest.size(),
                                                      out.storage.data() + out.size,
                                                      out.storage.size() - out.size, &used, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      if (out.storage.size() >= limit) {
        corrupt(label, "unpacks to more than " + std::to_string(limit) + " bytes");
      }
      grow(out, std::min(limit, 2 * out.storage.size()));
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS) {
      corrupt(label, "truncated or damaged data (" + std::to_string(packed.size()) + " bytes)");
    }
    at += used;
    out.size += made;
  }
  return out;
}

std::vector<std::uint8_t> gzip(std::span<const std::uint8_t> bytes, int level) {
  return pack(bytes, level, libdeflate_gzip_compress_bound, libdeflate_gzip_compress);
}

std::vector<std::uint8_t> zlib(std::span<const std::uint8_t> bytes, int level) {
  return pack(bytes, level, libdeflate_zlib_compress_bound, libdeflate_zlib_compress);
}

void unzlib(std::span<const std::uint8_t> packed, std::span<std::uint8_t> out,
            const std::string& label) {
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> engine(
      libdeflate_alloc_decompressor());
  if (!engine) throw Error(Status::kInternal, "libdeflate: out of memory", ENOMEM);
  // without a place for the size, anything but just this size is a failure
  if (libdeflate_zlib_decompress(engine.get(), packed.data(), packed.size(), out.data(), out.size(),
                                 nullptr) != LIBDEFLATE_SUCCESS) {
    throw Error(Status::kCorrupt, label + ": zlib: truncated or damaged data (" +
                                      std::to_string(packed.size()) + " bytes)");
  }
}

std::uint32_t crc32(std::uint32_t before, std::span<const std::uint8_t> bytes) noexcept {
  return libdeflate_crc32(before, bytes.data(), bytes.size());
}

namespace {

/// Product of two polynomials over two elements modulo that of CRC-32, the highest bit being 1.
std::uint32_t product(std::uint32_t a, std::uint32_t b) noexcept {
  constexpr std::uint32_t kPolynomial = 0xedb88320U;
  std::uint32_t out = 0;
  for (std::uint32_t bit = 0x80000000U; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) out ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? kPolynomial : 0U);
  }
  return out;
}

}  // namespace

std::uint32_t crc32_joined(std::uint32_t first, std::uint32_t second,
                           std::uint64_t bytes_of_second) noexcept {
  std::uint32_t power = 0x00800000U;  // x^8, for a byte of zeros behind the first
  for (; bytes_of_second != 0; bytes_of_second >>= 1) {
    if ((bytes_of_second & 1) != 0) first = product(power, first);
    power = product(power, power);
  }
  return first ^ second;
}

}  // namespace loom
