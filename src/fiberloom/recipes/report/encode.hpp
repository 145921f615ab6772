// SPDX-License-Identifier: BSD-3-Clause
// Numbers small enough for a page: half precision, planes of bytes, gzip, base64. Knows no frames.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fiberloom::report {

/// IEEE 754 binary16, rounded to nearest even; what is too large becomes the largest finite number,
/// NaN stays NaN.
[[nodiscard]] std::uint16_t to_half(double value) noexcept;

/// The number that a half stands for.
[[nodiscard]] double from_half(std::uint16_t half) noexcept;

/// `value` with only so many bits after the leading one, so that planes of it pack well.
[[nodiscard]] double keep_bits(double value, int bits) noexcept;

[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

/// gzip, then base64.
[[nodiscard]] std::string pack_bytes(std::span<const std::uint8_t> bytes);

/// All low bytes, then all high bytes, gzip, base64: sign and exponent side by side pack better.
[[nodiscard]] std::string pack_halves(std::span<const std::uint16_t> halves);

}  // namespace fiberloom::report
