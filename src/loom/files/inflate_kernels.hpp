// SPDX-License-Identifier: BSD-3-Clause
// What inflate.cpp hands to the kernels of an ISA level: a bit reader, tables of codes, and room
// for symbols. Plain pointers and no containers. For inflate.cpp and inflate_cpu.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "loom/simd/isa.hpp"

namespace loom::inflate {

/// Bits of a stream, the lowest of a byte first. Past the end there are zeros.
struct Bits {
  const std::uint8_t* begin = nullptr;
  const std::uint8_t* next = nullptr;
  const std::uint8_t* end = nullptr;
  std::uint64_t held = 0;
  unsigned left = 0;    ///< bits in `held`
  unsigned beyond = 0;  ///< bytes behind the end that were taken for zeros

  /// At least 56 bits are held then.
  void refill() noexcept {
    if (end - next >= 8) {
      std::uint64_t more = 0;
      std::memcpy(&more, next, 8);
      held |= more << left;
      next += (63 - left) >> 3;
      left |= 56;
      return;
    }
    while (left < 56) {
      if (next < end) {
        held |= static_cast<std::uint64_t>(*next++) << left;
      } else {
        ++beyond;
      }
      left += 8;
    }
  }
  [[nodiscard]] unsigned peek(unsigned n) const noexcept {
    return static_cast<unsigned>(held & ((std::uint64_t{1} << n) - 1));
  }
  void drop(unsigned n) noexcept {
    held >>= n;
    left -= n;
  }
  unsigned take(unsigned n) noexcept {
    const unsigned value = peek(n);
    drop(n);
    return value;
  }
  /// Of the next bit.
  [[nodiscard]] std::uint64_t position() const noexcept {
    return 8 * (static_cast<std::uint64_t>(next - begin) + beyond) - left;
  }
};

/// An entry of a table of codes. Lowest byte: bits of the code. A literal: its value in the upper
/// half. A length or distance: its least in the upper half, and how many bits more follow. A
/// subtable: where it begins in the upper half, and of how many bits it is. 0: no code.
constexpr std::uint32_t kLiteral = 0x8000, kSubtable = 0x4000, kBlockEnd = 0x2000;
constexpr unsigned kMoreShift = 8, kMoreMask = 15, kValueShift = 16;
constexpr unsigned kLengthBits = 11, kDistanceBits = 9;  ///< of the tables themselves

enum class Stop { kBlockEnds, kFull, kBad };

/// Symbols that a call may write beyond what it was asked for.
constexpr std::size_t kSlack = 288;
constexpr std::size_t kWindow = 32768;

/// Decodes until the block ends or fewer than kSlack symbols of room are left. Copies reach back
/// over what stands before `at`: kWindow symbols must stand before the first.
template <class Symbol>
using DecodeSymbols = Stop (*)(Bits& bits, const std::uint32_t* lengths,
                               const std::uint32_t* distances, Symbol*& at, const Symbol* room_end);

struct Kernels {
  DecodeSymbols<std::uint8_t> bytes;
  DecodeSymbols<std::uint16_t> marked;
};

[[nodiscard]] const Kernels& kernels_of(Isa isa);

}  // namespace loom::inflate
