// SPDX-License-Identifier: BSD-3-Clause
// gzip and zlib streams through libdeflate, whole buffers at a time. The only user of libdeflate.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loom/base/array.hpp"

namespace loom {

/// Bytes on the heap, not zeroed first (a frame has 140 MB).
struct Bytes {
  Buffer<std::uint8_t> storage;
  std::size_t size = 0;
  [[nodiscard]] std::span<const std::uint8_t> view() const { return {storage.data(), size}; }
};

/// Nothing that we read unpacks to more; a gzip bomb stops here.
inline constexpr std::size_t kMaxUnpacked = std::size_t{4} << 30;

[[nodiscard]] bool is_gzip(std::span<const std::uint8_t> bytes) noexcept;

/// All members of a gzip file. Throws kCorrupt (naming `label`) when it is truncated, damaged, or
/// would unpack to more than max_bytes. Memory: the result, twice that while it grows.
[[nodiscard]] Bytes gunzip(std::span<const std::uint8_t> packed, const std::string& label,
                           std::size_t max_bytes = kMaxUnpacked);

inline constexpr int kGzipLevel = 6;

/// One member, header without time or name: equal input gives equal bytes.
[[nodiscard]] std::vector<std::uint8_t> gzip(std::span<const std::uint8_t> bytes,
                                             int level = kGzipLevel);

/// The same data as a zlib stream, as PNG has it.
[[nodiscard]] std::vector<std::uint8_t> zlib(std::span<const std::uint8_t> bytes,
                                             int level = kGzipLevel);

/// A zlib stream that unpacks to just out.size() bytes. Throws kCorrupt, naming `label`, where it
/// does not.
void unzlib(std::span<const std::uint8_t> packed, std::span<std::uint8_t> out,
            const std::string& label);

/// CRC-32 of what came before (0 at the start) and `bytes`.
[[nodiscard]] std::uint32_t crc32(std::uint32_t before,
                                  std::span<const std::uint8_t> bytes) noexcept;

/// The CRC-32 of two stretches behind one another, of theirs and the length of the second.
[[nodiscard]] std::uint32_t crc32_joined(std::uint32_t first, std::uint32_t second,
                                         std::uint64_t bytes_of_second) noexcept;

}  // namespace loom
