// SPDX-License-Identifier: BSD-3-Clause
// Headers of blocks and tables of codes; the symbols are inflate_cpu.cpp's.
#include "loom/files/inflate.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "loom/simd/isa_tables.hpp"

namespace loom {

LOOM_ISA_TABLES(inflate::Kernels, kInflate, inflate_kernels_of)

namespace inflate {

const Kernels& kernels_of(Isa isa) { return inflate_kernels_of(isa); }

namespace {

constexpr unsigned kLongest = 15, kSymbols = 288, kEndSymbol = 256;
constexpr std::array<std::uint16_t, 31> kLengthBase{
    3,  4,  5,  6,  7,  8,  9,  10,  11,  13,  15,  17,  19,  23, 27, 31,
    35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258, 0,  0};
constexpr std::array<std::uint8_t, 31> kLengthMore{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2,
                                                   3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0, 0, 0};
constexpr std::array<std::uint16_t, 30> kDistanceBase{
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<std::uint8_t, 19> kOrder{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                              11, 4,  12, 3, 13, 2, 14, 1, 15};

// What stands in a table for each symbol, but for the bits of its code. Made once: a frame has
// thousands of blocks, and their tables were a sixteenth of unpacking it.
constexpr auto kLengthEntries = [] {
  std::array<std::uint32_t, kSymbols> out{};
  for (std::uint32_t symbol = 0; symbol < kEndSymbol; ++symbol)
    out.at(symbol) = kLiteral | symbol << kValueShift;
  out.at(kEndSymbol) = kBlockEnd;
  for (unsigned i = 0; i < 29; ++i) {
    out.at(kEndSymbol + 1 + i) = static_cast<std::uint32_t>(kLengthBase.at(i)) << kValueShift |
                                 static_cast<std::uint32_t>(kLengthMore.at(i)) << kMoreShift;
  }
  return out;
}();

constexpr auto kDistanceEntries = [] {
  std::array<std::uint32_t, 32> out{};
  for (unsigned i = 0; i < kDistanceBase.size(); ++i) {
    const unsigned more = i < 4 ? 0 : i / 2 - 1;
    out.at(i) = static_cast<std::uint32_t>(kDistanceBase.at(i)) << kValueShift | more << kMoreShift;
  }
  return out;
}();

constexpr auto kPlainEntries = [] {
  std::array<std::uint32_t, kOrder.size()> out{};
  for (std::uint32_t i = 0; i < out.size(); ++i) out.at(i) = kLiteral | i << kValueShift;
  return out;
}();

enum class Gaps { kNone, kOneCode };  ///< may codes be left over where there is one or none?

/// How many codes there are of each length; false where they are too many, or too few.
bool count_codes(std::span<const std::uint8_t> lengths, Gaps gaps,
                 std::array<unsigned, kLongest + 1>& count) {
  count.fill(0);
  for (const std::uint8_t n : lengths) ++count.at(n);
  count[0] = 0;
  unsigned used = 0, codes = 0;
  for (unsigned n = 1; n <= kLongest; ++n) {
    used += count.at(n) << (kLongest - n);
    codes += count.at(n);
  }
  return used == 1U << kLongest ||
         (gaps == Gaps::kOneCode && (codes == 0 || (codes == 1 && count[1] == 1)));
}

/// The code of n bits behind this one, both with their last bit first: one is added from the top.
/// Behind the code of the same bits and a zero more stands the same number.
unsigned next_code(unsigned code, unsigned n) {
  const unsigned bit = std::bit_floor(code ^ ((1U << n) - 1));
  return (code & (bit - 1)) | bit;
}

/// The table of canonical codes (RFC 1951, 3.2.2): 2^width entries, then the subtables of longer
/// codes. count_codes() has found the lengths possible. From short codes to long ones: a table of
/// one bit more is twice that of before with the new codes in it.
void fill_table(std::span<const std::uint8_t> lengths,
                const std::array<unsigned, kLongest + 1>& count, unsigned width,
                std::span<const std::uint32_t> entries, std::vector<std::uint32_t>& table) {
  std::array<std::uint16_t, kSymbols> order{};
  std::array<unsigned, kLongest + 2> place{};
  for (unsigned n = 1; n <= kLongest; ++n) place.at(n + 1) = place.at(n) + count.at(n);
  for (unsigned symbol = 0; symbol < lengths.size(); ++symbol) {
    if (lengths[symbol] != 0)
      order.at(place.at(lengths[symbol])++) = static_cast<std::uint16_t>(symbol);
  }
  unsigned longest = kLongest;
  while (longest > 1 && count.at(longest) == 0) --longest;
  // all subtables have the bits of the longest code: few codes are longer than a table is wide
  const unsigned more = longest > width ? longest - width : 0;
  table.resize(std::size_t{1} << width);
  table[0] = 0;
  const std::uint16_t* symbol = order.data();
  unsigned code = 0;
  for (unsigned n = 1; n <= std::max(longest, width); ++n) {
    const std::size_t half = std::size_t{1} << (n - 1);
    if (n <= width) std::copy_n(table.begin(), half, table.begin() + static_cast<long>(half));
    for (unsigned left = count.at(n); left > 0; --left, code = next_code(code, n)) {
      std::uint32_t what = entries[*symbol++];
      if (what != 0) what |= n;
      if (n <= width) {
        table[code] = what;
        continue;
      }
      const unsigned main = code & ((1U << width) - 1);
      if (table[main] == 0) {
        table[main] = kSubtable | more << kMoreShift |
                      static_cast<std::uint32_t>(table.size()) << kValueShift;
        table.resize(table.size() + (std::size_t{1} << more), 0);
      }
      const std::size_t first = table[main] >> kValueShift;
      for (std::size_t i = code >> width; i < std::size_t{1} << more;
           i += std::size_t{1} << (n - width))
        table[first + i] = what;
    }
  }
}

constexpr unsigned kPreBits = 7;

/// Lengths of both kinds of codes of a block, behind its three bits; false where they are none.
struct CodeLengths {
  std::array<std::uint8_t, kSymbols + 32> all{};
  unsigned literals = 0, distances = 0;
};

bool read_lengths(Bits& bits, CodeLengths& out, std::vector<std::uint32_t>& table) {
  bits.refill();
  out.literals = 257 + bits.take(5);
  out.distances = 1 + bits.take(5);
  const unsigned n = 4 + bits.take(4);
  if (out.literals > 286 || out.distances > 30) return false;
  std::array<std::uint8_t, kOrder.size()> pre{};
  for (unsigned i = 0; i < n; ++i) {
    if (bits.left < 3) bits.refill();
    pre.at(kOrder.at(i)) = static_cast<std::uint8_t>(bits.take(3));
  }
  std::array<unsigned, kLongest + 1> count{};
  if (!count_codes(pre, Gaps::kNone, count)) return false;
  fill_table(pre, count, kPreBits, kPlainEntries, table);
  const unsigned all = out.literals + out.distances;
  for (unsigned i = 0; i < all;) {
    bits.refill();
    const std::uint32_t entry = table[bits.peek(kPreBits)];
    bits.drop(entry & 0xff);
    const unsigned symbol = entry >> kValueShift;
    if (symbol < 16) {
      out.all.at(i++) = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) return false;
    const std::uint8_t value = symbol == 16 ? out.all.at(i - 1) : std::uint8_t{0};
    unsigned repeat = symbol == 16   ? 3 + bits.take(2)
                      : symbol == 17 ? 3 + bits.take(3)
                                     : 11 + bits.take(7);
    if (i + repeat > all) return false;
    for (; repeat > 0; --repeat) out.all.at(i++) = value;
  }
  return bits.beyond <= 8 && out.all.at(kEndSymbol) != 0;
}

Bits bits_from(std::span<const std::uint8_t> packed, std::uint64_t first) {
  Bits bits;
  bits.begin = packed.data();
  bits.next = packed.data() + first / 8;
  bits.end = packed.data() + packed.size();
  bits.refill();
  bits.drop(static_cast<unsigned>(first % 8));
  return bits;
}

constexpr unsigned kDynamic = 4;  // three bits: not the last, codes of its own

}  // namespace

template <class Symbol>
void Unpacked<Symbol>::begin_run(const Symbol* window) {
  Run run{Buffer<Symbol>(kWindow + kRun + kSlack), 0};
  std::copy_n(window, kWindow, run.storage.data());
  runs_.push_back(std::move(run));
}

Inflater::Inflater(std::span<const std::uint8_t> packed, std::uint64_t first)
    : bits_(bits_from(packed, first)), kernels_(kernels_of(active_isa())) {}

bool Inflater::at_dynamic_block() noexcept {
  bits_.refill();
  return bits_.peek(3) == kDynamic;
}

bool Inflater::read_codes() {
  CodeLengths read;
  if (!read_lengths(bits_, read, lengths_)) return false;
  std::array<unsigned, kLongest + 1> count{};
  const std::span<const std::uint8_t> all(read.all);
  const auto literals = all.first(read.literals),
             distances = all.subspan(read.literals, read.distances);
  if (!count_codes(literals, Gaps::kNone, count)) return false;
  fill_table(literals, count, kLengthBits, kLengthEntries, lengths_);
  if (!count_codes(distances, Gaps::kOneCode, count)) return false;
  fill_table(distances, count, kDistanceBits, kDistanceEntries, distances_);
  return true;
}

void Inflater::fixed_codes() {
  std::array<std::uint8_t, kSymbols> n{};
  std::fill(n.begin(), n.begin() + 144, 8);
  std::fill(n.begin() + 144, n.begin() + 256, 9);
  std::fill(n.begin() + 256, n.begin() + 280, 7);
  std::fill(n.begin() + 280, n.end(), 8);
  std::array<unsigned, kLongest + 1> count{};
  (void)count_codes(n, Gaps::kNone, count);
  fill_table(n, count, kLengthBits, kLengthEntries, lengths_);
  std::array<std::uint8_t, 32> d{};
  d.fill(5);
  (void)count_codes(d, Gaps::kNone, count);
  fill_table(d, count, kDistanceBits, kDistanceEntries, distances_);
}

template <class Symbol>
bool Inflater::stored(Unpacked<Symbol>& out, std::size_t most) {
  const std::uint64_t at = (bits_.position() + 7) / 8;
  const auto have = static_cast<std::uint64_t>(bits_.end - bits_.begin);
  if (have < 4 || at > have - 4) return false;
  const std::uint8_t* p = bits_.begin + at;
  const unsigned n = p[0] | p[1] << 8, check = p[2] | p[3] << 8;
  if ((n ^ check) != 0xffff || have - at - 4 < n || out.size() + n > most) return false;
  if (out.room() < n + kSlack) out.next_run();
  std::copy_n(p + 4, n, out.place());
  out.add(n);
  bits_ = bits_from({bits_.begin, bits_.end}, 8 * (at + 4 + n));
  return true;
}

template <class Symbol>
Block Inflater::next_block(Unpacked<Symbol>& out, std::size_t most) {
  bits_.refill();
  const Block good = bits_.take(1) != 0 ? Block::kLast : Block::kMore;
  const unsigned kind = bits_.take(2);
  if (kind == 0) return stored(out, most) ? good : Block::kBad;
  if (kind == 3 || (kind == 2 && !read_codes())) return Block::kBad;
  if (kind == 1) fixed_codes();
  for (;;) {
    Symbol* const place = out.place();
    Symbol* at = place;
    const Symbol* room_end = at + out.room();
    Stop stop = Stop::kBad;
    if constexpr (sizeof(Symbol) == 1) {
      stop = kernels_.bytes(bits_, lengths_.data(), distances_.data(), at, room_end);
    } else {
      stop = kernels_.marked(bits_, lengths_.data(), distances_.data(), at, room_end);
    }
    out.add(static_cast<std::size_t>(at - place));
    if (stop == Stop::kBad || bits_.beyond > 8 || out.size() > most) return Block::kBad;
    if (stop == Stop::kBlockEnds) {
      const auto have = 8 * static_cast<std::uint64_t>(bits_.end - bits_.begin);
      return bits_.position() <= have ? good : Block::kBad;
    }
    out.next_run();
  }
}

template class Unpacked<std::uint8_t>;
template class Unpacked<std::uint16_t>;
template Block Inflater::next_block(Unpacked<std::uint8_t>&, std::size_t);
template Block Inflater::next_block(Unpacked<std::uint16_t>&, std::size_t);

std::optional<std::uint64_t> find_block(std::span<const std::uint8_t> packed, std::uint64_t first,
                                        std::uint64_t last) {
  std::vector<std::uint32_t> table;
  std::array<unsigned, kLongest + 1> count{};
  for (std::uint64_t bit = first; bit < last; ++bit) {
    Bits bits = bits_from(packed, bit);
    // nearly all places fail here: the kind, then more codes than there are
    if (bits.take(3) != kDynamic || bits.peek(5) > 29 || (bits.held >> 5 & 31) > 29) continue;
    CodeLengths read;
    if (!read_lengths(bits, read, table)) continue;
    const std::span<const std::uint8_t> all(read.all);
    if (count_codes(all.first(read.literals), Gaps::kNone, count) &&
        count_codes(all.subspan(read.literals, read.distances), Gaps::kOneCode, count))
      return bit;
  }
  return std::nullopt;
}

}  // namespace inflate
}  // namespace loom
