// SPDX-License-Identifier: BSD-3-Clause
// Loads and stores of either order: single values by memcpy, arrays of numbers by vector shuffles.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "loom/simd/swap_words.hpp"

namespace loom {

static_assert(std::endian::native == std::endian::little, "big-endian hosts are not supported");

[[nodiscard]] inline std::uint8_t byte_swap(std::uint8_t v) noexcept { return v; }
[[nodiscard]] inline std::uint16_t byte_swap(std::uint16_t v) noexcept {
  return __builtin_bswap16(v);
}
[[nodiscard]] inline std::uint32_t byte_swap(std::uint32_t v) noexcept {
  return __builtin_bswap32(v);
}
[[nodiscard]] inline std::uint64_t byte_swap(std::uint64_t v) noexcept {
  return __builtin_bswap64(v);
}

template <std::size_t N>
using UnsignedOf = std::conditional_t<
    N == 1, std::uint8_t,
    std::conditional_t<N == 2, std::uint16_t,
                       std::conditional_t<N == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
[[nodiscard]] T load_le(const std::uint8_t* p) noexcept {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class T>
[[nodiscard]] T load_be(const std::uint8_t* p) noexcept {
  UnsignedOf<sizeof(T)> u;
  std::memcpy(&u, p, sizeof u);
  return std::bit_cast<T>(byte_swap(u));
}

template <class T>
void store_be(std::uint8_t* p, T value) noexcept {
  const auto u = byte_swap(std::bit_cast<UnsignedOf<sizeof(T)>>(value));
  std::memcpy(p, &u, sizeof u);
}

/// n big-endian values of T at `in` to native ones at `out` (the same place is fine).
template <class T>
void from_big_endian(const std::uint8_t* in, T* out, std::size_t n) noexcept {
  if constexpr (sizeof(T) == 4) {
    swap_words_of_4(in, reinterpret_cast<std::uint8_t*>(out), n);
  } else if constexpr (sizeof(T) == 8) {
    swap_words_of_8(in, reinterpret_cast<std::uint8_t*>(out), n);
  } else {
    for (std::size_t i = 0; i < n; ++i) out[i] = load_be<T>(in + i * sizeof(T));
  }
}

/// n values, converted to To, as big-endian bytes.
template <class To, class From>
void to_big_endian(const From* in, std::uint8_t* out, std::size_t n) noexcept {
  if constexpr (std::is_same_v<To, From> && sizeof(To) == 4) {
    swap_words_of_4(reinterpret_cast<const std::uint8_t*>(in), out, n);
  } else if constexpr (std::is_same_v<To, From> && sizeof(To) == 8) {
    swap_words_of_8(reinterpret_cast<const std::uint8_t*>(in), out, n);
  } else {
    for (std::size_t i = 0; i < n; ++i) store_be(out + i * sizeof(To), static_cast<To>(in[i]));
  }
}

}  // namespace loom
