// SPDX-License-Identifier: BSD-3-Clause
// One pixel from the type in the file to the type that is wanted: BSCALE, BZERO, BLANK.
// Numbers become float or double; integers also the bits of a mask (std::uint32_t).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace loom::fits {

/// Wide enough for any integer of a file plus any BZERO.
__extension__ using WideInteger = __int128;

struct PixelScale {
  double scale = 1, zero = 0;
  std::optional<std::int64_t> blank;
  [[nodiscard]] bool trivial() const noexcept { return scale == 1 && zero == 0 && !blank; }
  /// Integers stay integers: unsigned types (BZERO 2^15, 2^31, 2^63) and signed bytes among them.
  [[nodiscard]] bool whole() const noexcept {
    return scale == 1 && zero == std::floor(zero) && std::abs(zero) <= 0x1p63;
  }
};

/// Bits that no mask of 32 bits has room for stand in its last one; undefined pixels have all.
inline constexpr std::uint32_t kBitsBeyond = 0x80000000U, kBitsUndefined = 0xffffffffU;

/// The bits of an integer: its own where it is not negative, else those of two's complement in
/// `width` bits, or in 64 where that is too narrow.
[[nodiscard]] inline std::uint32_t bits_of(WideInteger value, int width) noexcept {
  if (value < 0 && value >= -(WideInteger{1} << (width - 1))) value += WideInteger{1} << width;
  const auto bits = static_cast<std::uint64_t>(value);
  return static_cast<std::uint32_t>(bits) | (bits >> 32 != 0 ? kBitsBeyond : 0U);
}

template <class To, class From>
[[nodiscard]] To convert_pixel(From v, const PixelScale& s) noexcept {
  constexpr bool kBits = std::is_same_v<To, std::uint32_t>;
  static_assert(!kBits || std::is_integral_v<From>, "only integers have bits");
  if constexpr (std::is_integral_v<From>) {
    if (s.blank && static_cast<std::int64_t>(v) == *s.blank) {
      if constexpr (kBits) {
        return kBitsUndefined;
      } else {
        return std::numeric_limits<To>::quiet_NaN();
      }
    }
  }
  if constexpr (kBits) {
    return bits_of(WideInteger{v} + static_cast<WideInteger>(s.zero), 8 * sizeof(From));
  } else if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
    // A double holds 53 bits: -2^63 + 5 and 2^63 must meet before they become one.
    if (s.whole()) return static_cast<To>(WideInteger{v} + static_cast<WideInteger>(s.zero));
    return static_cast<To>(static_cast<double>(v) * s.scale + s.zero);
  } else {
    return static_cast<To>(static_cast<double>(v) * s.scale + s.zero);
  }
}

/// n pixels; the usual cases are plain loops. Precondition for bits: s.whole().
template <class To, class From>
void convert_pixels(const From* in, To* out, std::size_t n, const PixelScale& s) noexcept {
  if constexpr (std::is_same_v<To, std::uint32_t> && sizeof(From) <= 4) {
    using Unsigned = std::make_unsigned_t<From>;
    constexpr auto kTop = static_cast<Unsigned>(Unsigned{1} << (8 * sizeof(From) - 1));
    constexpr double kOther = std::is_signed_v<From> ? kTop : -static_cast<double>(kTop);
    if (!s.blank && (s.zero == 0 || s.zero == kOther)) {
      const Unsigned flip = s.zero == 0 ? Unsigned{0} : kTop;
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = static_cast<Unsigned>(static_cast<Unsigned>(in[i]) ^ flip);
      }
      return;
    }
  }
  if constexpr (std::is_floating_point_v<To>) {
    if (s.trivial()) {
      for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<To>(in[i]);
      return;
    }
  }
  for (std::size_t i = 0; i < n; ++i) out[i] = convert_pixel<To>(in[i], s);
}

}  // namespace loom::fits
