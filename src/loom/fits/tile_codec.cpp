// SPDX-License-Identifier: BSD-3-Clause
// Rice coding of pixel differences, and PLIO run lengths.
#include "loom/fits/tile_codec.hpp"

#include <algorithm>
#include <bit>

#include "loom/files/byte_order.hpp"

namespace loom::fits {
namespace {

/// Widths of the code for one pixel size: bits of the split field, its "raw" value, bits of a
/// pixel.
struct RiceShape {
  int field_bits, raw_split, pixel_bits;
};

RiceShape rice_shape(int byte_pix) {
  if (byte_pix == 1) return {3, 6, 8};
  if (byte_pix == 2) return {4, 14, 16};
  return {5, 25, 32};
}

/// Most significant bit first; never reads beyond the end.
class BitReader {
 public:
  explicit BitReader(std::span<const std::uint8_t> in) : p_(in.data()), end_(p_ + in.size()) {}

  bool read(int n, std::uint64_t& value) noexcept {  // n <= 32
    if (have_ < n) refill();
    if (have_ < n) return false;
    value = n == 0 ? 0 : bits_ >> (64 - n);
    drop(n);
    return true;
  }
  /// Zeros before the next one; the one is taken too.
  bool unary(std::uint64_t& zeros) noexcept {
    zeros = 0;
    for (;;) {
      if (have_ == 0) refill();
      if (have_ == 0) return false;
      const int lead = std::countl_zero(bits_);
      if (lead < have_) {
        zeros += static_cast<std::uint64_t>(lead);
        drop(lead + 1);
        return true;
      }
      zeros += static_cast<std::uint64_t>(have_);
      bits_ = 0;
      have_ = 0;
    }
  }

 private:
  void refill() noexcept {
    while (have_ <= 56 && p_ != end_) {
      bits_ |= std::uint64_t{*p_++} << (56 - have_);
      have_ += 8;
    }
  }
  void drop(int n) noexcept {
    bits_ = n == 64 ? 0 : bits_ << n;
    have_ -= n;
  }
  const std::uint8_t *p_, *end_;
  std::uint64_t bits_ = 0;  // left-aligned; bits below have_ are 0
  int have_ = 0;
};

class BitWriter {
 public:
  void write(std::uint64_t value, int n) {  // n <= 32
    if (n == 0) return;
    bits_ = bits_ << n | (value & ((std::uint64_t{1} << n) - 1));
    have_ += n;
    while (have_ >= 8) {
      have_ -= 8;
      out.push_back(static_cast<std::uint8_t>(bits_ >> have_));
    }
  }
  void unary(std::uint64_t zeros) {
    for (; zeros >= 32; zeros -= 32) write(0, 32);
    write(1, static_cast<int>(zeros) + 1);
  }
  void flush() {
    if (have_ > 0) write(0, 8 - have_);
  }
  std::vector<std::uint8_t> out;

 private:
  std::uint64_t bits_ = 0;
  int have_ = 0;
};

std::int32_t to_pixel(std::uint32_t v, int byte_pix) {
  if (byte_pix == 1) return static_cast<std::uint8_t>(v);
  if (byte_pix == 2) return static_cast<std::int16_t>(v);
  return static_cast<std::int32_t>(v);
}

/// Differences with the sign in the lowest bit: 0, -1, 1, -2 ... -> 0, 1, 2, 3 ...
std::uint32_t fold(std::int32_t d) {
  const auto u = static_cast<std::uint32_t>(d);
  return d < 0 ? ~(u << 1) : u << 1;
}
std::uint32_t unfold(std::uint32_t v) { return (v & 1U) != 0 ? ~(v >> 1) : v >> 1; }

int split_position(std::uint64_t sum, std::size_t n) {
  const double mean =
      (static_cast<double>(sum) - static_cast<double>(n / 2) - 1.0) / static_cast<double>(n);
  auto half = static_cast<std::uint64_t>(std::max(mean, 0.0)) >> 1;
  int split = 0;
  for (; half > 0; half >>= 1) ++split;
  return split;
}

}  // namespace

bool rice_decode(std::span<const std::uint8_t> in, int byte_pix, std::size_t block,
                 std::span<std::int32_t> out) noexcept {
  const RiceShape shape = rice_shape(byte_pix);
  BitReader bits(in);
  std::uint64_t value = 0;
  if (block == 0 || !bits.read(shape.pixel_bits, value)) return false;
  auto last = static_cast<std::uint32_t>(value);
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t n = std::min(block, out.size() - at);
    if (!bits.read(shape.field_bits, value)) return false;
    const int split = static_cast<int>(value) - 1;
    if (split < 0) {
      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at), n, to_pixel(last, byte_pix));
      at += n;
      continue;
    }
    for (const std::size_t end = at + n; at < end; ++at) {
      std::uint64_t high = 0, low = 0;
      if (split == shape.raw_split) {
        if (!bits.read(shape.pixel_bits, low)) return false;
      } else if (!bits.unary(high) || !bits.read(split, low)) {
        return false;
      }
      last += unfold(static_cast<std::uint32_t>(high << split | low));
      out[at] = to_pixel(last, byte_pix);
    }
  }
  return true;
}

std::vector<std::uint8_t> rice_encode(std::span<const std::int32_t> in, int byte_pix,
                                      std::size_t block) {
  const RiceShape shape = rice_shape(byte_pix);
  BitWriter bits;
  if (in.empty()) return bits.out;
  std::int32_t last = in.front();
  bits.write(static_cast<std::uint32_t>(last), shape.pixel_bits);
  std::vector<std::uint32_t> folded(block);
  for (std::size_t at = 0; at < in.size(); at += block) {
    const std::size_t n = std::min(block, in.size() - at);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto difference =
          static_cast<std::uint32_t>(in[at + i]) - static_cast<std::uint32_t>(last);
      folded[i] = fold(byte_pix == 4   ? static_cast<std::int32_t>(difference)
                       : byte_pix == 2 ? static_cast<std::int16_t>(difference)
                                       : static_cast<std::int8_t>(difference));
      last = in[at + i];
      sum += folded[i];
    }
    const int split = split_position(sum, n);
    if (sum == 0) {
      bits.write(0, shape.field_bits);
    } else if (split >= shape.raw_split) {
      bits.write(static_cast<std::uint64_t>(shape.raw_split) + 1, shape.field_bits);
      for (std::size_t i = 0; i < n; ++i) bits.write(folded[i], shape.pixel_bits);
    } else {
      bits.write(static_cast<std::uint64_t>(split) + 1, shape.field_bits);
      for (std::size_t i = 0; i < n; ++i) {
        bits.unary(folded[i] >> split);
        bits.write(folded[i], split);
      }
    }
  }
  bits.flush();
  return bits.out;
}

bool plio_decode(std::span<const std::uint8_t> in, std::span<std::int32_t> out) noexcept {
  const std::size_t words = in.size() / 2;
  const auto word = [&](std::size_t i) { return load_be<std::int16_t>(in.data() + 2 * i); };
  std::fill(out.begin(), out.end(), 0);
  if (words < 4) return false;
  // The old form of the header has its length in word 3; the new one is longer and says how long.
  std::size_t length = 0, first = 3;
  if (word(2) > 0) {
    length = static_cast<std::size_t>(word(2));
  } else {
    if (words < 7 || word(4) < 0 || word(3) < 0 || word(1) < 0) return false;
    length = (static_cast<std::size_t>(word(4)) << 15) + static_cast<std::size_t>(word(3));
    first = static_cast<std::size_t>(word(1));
  }
  if (length > words) return false;
  std::size_t at = 0;
  std::int64_t high = 1;
  for (std::size_t i = first; i < length; ++i) {
    const auto w = static_cast<std::uint16_t>(word(i));
    const int op = w >> 12;
    const std::size_t data = w & 0xfffU;
    if (op == 1) {  // set the high value; the next word holds its upper part
      if (++i >= length) return false;
      high = (std::int64_t{word(i)} << 12) + static_cast<std::int64_t>(data);
    } else if (op == 2 || op == 6) {
      high += static_cast<std::int64_t>(data);
    } else if (op == 3 || op == 7) {
      high -= static_cast<std::int64_t>(data);
    } else if (op != 0 && op != 4 && op != 5) {
      return false;
    }
    const std::size_t run = op == 6 || op == 7 ? 1 : op == 0 || op == 4 || op == 5 ? data : 0;
    if (run > out.size() - at) return false;
    const auto value = static_cast<std::int32_t>(high);
    if (op == 4 || op == 6 || op == 7) {
      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at), run, value);
    } else if (op == 5 && run > 0) {
      out[at + run - 1] = value;
    }
    at += run;
  }
  return true;
}

}  // namespace loom::fits
