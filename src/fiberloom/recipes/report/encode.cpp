// SPDX-License-Identifier: BSD-3-Clause
// Half precision by arithmetic, so that no instruction set decides about a bit.
#include "fiberloom/recipes/report/encode.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/foundation.hpp"
#include "loom/files/gzip.hpp"

namespace fiberloom::report {
namespace {

constexpr int kMantissaBits = 10, kBias = 15;
constexpr double kLargest = 65504.0;  // of binary16
constexpr std::uint16_t kNaN = 0x7e00;

}  // namespace

std::uint16_t to_half(double value) noexcept {
  if (std::isnan(value)) return kNaN;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::min(std::abs(value), kLargest);
  if (size == 0) return sign;
  int exponent = 0;
  std::frexp(size, &exponent);  // size = m 2^exponent, 0.5 <= m < 1
  const int power = std::max(exponent - 1, 1 - kBias);
  // Steps of the last bit; 2048 of them are the next power of two, which carries over by itself.
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, kMantissaBits - power)));
  const int biased = power + kBias - 1;
  return static_cast<std::uint16_t>(sign | ((biased << kMantissaBits) + steps));
}

double from_half(std::uint16_t half) noexcept {
  const int exponent = (half >> kMantissaBits) & 31, mantissa = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - kBias - kMantissaBits);
  return sign * std::ldexp(1024 + mantissa, exponent - kBias - kMantissaBits);
}

double keep_bits(double value, int bits) noexcept {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, bits + 1 - exponent)), exponent - bits - 1);
}

std::string base64(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = (group << 8) | (k < n ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= n ? kDigits[(group >> (18 - 6 * k)) & 63U] : '=';
    }
  }
  return out;
}

std::string pack_bytes(std::span<const std::uint8_t> bytes) { return base64(gzip(bytes)); }

std::string pack_halves(std::span<const std::uint16_t> halves) {
  std::vector<std::uint8_t> planes(2 * halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    planes[i] = static_cast<std::uint8_t>(halves[i] & 255U);
    planes[halves.size() + i] = static_cast<std::uint8_t>(halves[i] >> 8);
  }
  return pack_bytes(planes);
}

}  // namespace fiberloom::report
