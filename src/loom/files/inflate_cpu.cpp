// SPDX-License-Identifier: BSD-3-Clause
// The loop over the symbols of a block, for each ISA level (shifts by a register's count are one
// instruction from v3 on).
#include "loom/files/inflate_kernels.hpp"

namespace loom::FIBERLOOM_ISA_NS {
namespace {

using namespace inflate;

/// An entry of a table, by way of a subtable where the code is a long one.
inline std::uint32_t follow(const Bits& bits, const std::uint32_t* table, unsigned width,
                            std::uint32_t entry) {
  if ((entry & kSubtable) == 0) return entry;
  const unsigned more = entry >> kMoreShift & kMoreMask;
  const auto index = static_cast<unsigned>(bits.held >> width & ((1U << more) - 1));
  return table[(entry >> kValueShift) + index];
}

/// `length` symbols from `distance` before; may write up to 7 bytes' worth beyond.
template <class Symbol>
inline void copy_back(Symbol* to, unsigned distance, unsigned length) {
  const Symbol* from = to - distance;
  const Symbol* const end = to + length;
  constexpr unsigned kStep = 8 / sizeof(Symbol);
  if (distance >= kStep) {
    do {
      std::memcpy(to, from, 8);
      to += kStep;
      from += kStep;
    } while (to < end);
  } else if (distance == 1) {
    const Symbol value = *from;
    do *to++ = value;
    while (to < end);
  } else {
    do *to++ = *from++;
    while (to < end);
  }
}

// Long: the loop of literals and copies, with the bits in registers.
template <class Symbol>
Stop decode(Bits& stream, const std::uint32_t* lengths, const std::uint32_t* distances,
            Symbol*& place, const Symbol* room_end) {
  Bits bits = stream;
  Symbol* at = place;
  Stop stop = Stop::kFull;
  const Symbol* const last = room_end - kSlack;
  if (at > last) return stop;
  bits.refill();
  std::uint32_t entry = lengths[bits.peek(kLengthBits)];
  const auto literal = [&] {
    bits.drop(entry & 0xff);
    *at++ = static_cast<Symbol>(entry >> kValueShift);
    entry = lengths[bits.peek(kLengthBits)];
  };
  for (;;) {
    // literals of the table itself have 11 bits at most: three and a look at the next are 44 of 56
    if ((entry & kLiteral) != 0) {
      literal();
      if ((entry & kLiteral) != 0) {
        literal();
        if ((entry & kLiteral) != 0) {
          literal();
          if (at > last) break;
          bits.refill();
          continue;
        }
      }
    }
    entry = follow(bits, lengths, kLengthBits, entry);
    if (entry == 0 || bits.beyond > 8) {
      stop = Stop::kBad;
      break;
    }
    if ((entry & kLiteral) != 0) {  // of a subtable
      bits.drop(entry & 0xff);
      *at++ = static_cast<Symbol>(entry >> kValueShift);
      if (at > last) break;
      bits.refill();
      entry = lengths[bits.peek(kLengthBits)];
      continue;
    }
    bits.drop(entry & 0xff);
    if ((entry & kBlockEnd) != 0) {
      stop = Stop::kBlockEnds;
      break;
    }
    bits.refill();
    const unsigned length = (entry >> kValueShift) + bits.take(entry >> kMoreShift & kMoreMask);
    entry = follow(bits, distances, kDistanceBits, distances[bits.peek(kDistanceBits)]);
    if (entry == 0) {
      stop = Stop::kBad;
      break;
    }
    bits.drop(entry & 0xff);
    const unsigned distance = (entry >> kValueShift) + bits.take(entry >> kMoreShift & kMoreMask);
    copy_back(at, distance, length);
    at += length;
    if (at > last) break;
    bits.refill();
    entry = lengths[bits.peek(kLengthBits)];
  }
  stream = bits;
  place = at;
  return stop;
}

}  // namespace

extern const Kernels kInflate;
const Kernels kInflate{decode<std::uint8_t>, decode<std::uint16_t>};

}  // namespace loom::FIBERLOOM_ISA_NS
