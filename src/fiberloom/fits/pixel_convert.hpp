// SPDX-License-Identifier: BSD-3-Clause
// One pixel from the type in the file to the type that is wanted: BSCALE, BZERO, BLANK.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace fiberloom::fits {

struct PixelScale {
  double scale = 1, zero = 0;
  std::optional<std::int64_t> blank;
  [[nodiscard]] bool trivial() const noexcept { return scale == 1 && zero == 0 && !blank; }
};

/// Nearest integer of T, cut to its range; 0 for NaN.
template <class T>
[[nodiscard]] T to_integer(double v) noexcept {
  if (std::isnan(v)) return 0;
  constexpr double kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  return static_cast<T>(std::clamp(std::nearbyint(v), kLow, kHigh));
}

template <class To, class From>
[[nodiscard]] To convert_pixel(From v, const PixelScale& s) noexcept {
  double value = static_cast<double>(v);
  if constexpr (std::is_integral_v<From>) {
    if (s.blank && static_cast<std::int64_t>(v) == *s.blank) {
      if constexpr (std::is_integral_v<To>) {
        return 0;
      } else {
        return std::numeric_limits<To>::quiet_NaN();
      }
    }
  }
  value = value * s.scale + s.zero;
  if constexpr (std::is_integral_v<To>) {
    return to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// n pixels; the case without scaling is a plain loop.
template <class To, class From>
void convert_pixels(const From* in, To* out, std::size_t n, const PixelScale& s) noexcept {
  constexpr bool kPlain = std::is_floating_point_v<To> || std::is_same_v<To, From> ||
                          (std::is_integral_v<From> && sizeof(From) < sizeof(To) &&
                           (std::is_signed_v<To> || std::is_unsigned_v<From>));
  if (kPlain && s.trivial()) {
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<To>(in[i]);
  } else {
    for (std::size_t i = 0; i < n; ++i) out[i] = convert_pixel<To>(in[i], s);
  }
}

}  // namespace fiberloom::fits
