// SPDX-License-Identifier: BSD-3-Clause
// One gzip member unpacked by several threads, whoever packed it: each begins at a block somewhere
// in the stream, without the 32 KB that stand before it. Internal to files/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"

namespace loom {

/// Packed bytes that are worth a thread of their own.
inline constexpr std::size_t kLeastPart = std::size_t{1} << 20;

/// Unpacked bytes, somewhere in a buffer.
struct Piece {
  Buffer<std::uint8_t> storage;
  std::size_t first = 0, size = 0;
  [[nodiscard]] std::span<const std::uint8_t> view() const {
    return {storage.data() + first, size};
  }
};

/// What gunzip() gives, as pieces that follow one another, where the file is one sound member with
/// blocks to begin at; else nothing, and gunzip() knows what is wrong with it, if anything is.
/// Length and CRC-32 have been compared. Memory: twice the result at most, three times on the way.
[[nodiscard]] std::optional<std::vector<Piece>> parallel_gunzip(
    std::span<const std::uint8_t> packed, std::size_t max_bytes, Executor& executor,
    std::size_t least_part = kLeastPart);

}  // namespace loom
