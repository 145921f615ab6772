// SPDX-License-Identifier: BSD-3-Clause
// The FITS checksum (standard 4.0, appendix J): a 32-bit ones' complement sum, and its ASCII form.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace loom::fits {

/// Sums big-endian 32-bit words. Pieces may be added in any order of whole words.
class Checksum {
 public:
  /// Bytes after the last whole word are left out.
  void add(std::span<const std::uint8_t> bytes) noexcept;
  void add(std::uint32_t sum) noexcept { wide_ += sum; }
  [[nodiscard]] std::uint32_t value() const noexcept;

 private:
  std::uint64_t wide_ = 0;
};

/// The 16 characters that make the sum of an HDU all ones; `sum` is that of the HDU with the value
/// '0000000000000000' in place.
[[nodiscard]] std::string encode_checksum(std::uint32_t sum);

}  // namespace loom::fits
