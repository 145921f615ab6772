// SPDX-License-Identifier: BSD-3-Clause
// Arrays as numpy's .npz: a zip archive of .npy files that are stored as they are. Knows no
// physics.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loom/files/atomic_file.hpp"

namespace loom {

/// An array of such a file, in the machine's order of bytes (little-endian).
struct NpzArray {
  std::string name;  ///< without ".npy"
  std::string type;  ///< numpy's: "<f8", "<i4", "|S3"
  std::vector<std::uint64_t> shape;
  std::span<const std::uint8_t> bytes;
};

/// The bytes of numbers that lie in a row.
template <class T>
[[nodiscard]] std::span<const std::uint8_t> raw_bytes(std::span<const T> values) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

/// The largest size and place that an archive holds in 32 bits, in which 0xffffffff is "elsewhere".
inline constexpr std::uint64_t kMostNarrow = 0xfffffffe;

/// Writes them, in their order; equal arrays give equal bytes. Sizes and places above `most_narrow`
/// are zip64; less than kMostNarrow makes small archives such as large ones are. `together`: as
/// AtomicFile::commit(). Throws as AtomicFile.
void write_npz(const std::string& path, Overwrite overwrite, std::span<const NpzArray> arrays,
               FilesTogether* together = nullptr, std::uint64_t most_narrow = kMostNarrow);

}  // namespace loom
