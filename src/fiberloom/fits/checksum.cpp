// SPDX-License-Identifier: BSD-3-Clause
// DATASUM and CHECKSUM.
#include "fiberloom/fits/checksum.hpp"

#include <array>

#include "fiberloom/fits/byte_order.hpp"

namespace fiberloom::fits {
namespace {

bool is_punctuation(unsigned c) { return (c >= 0x3a && c <= 0x40) || (c >= 0x5b && c <= 0x60); }

/// Four characters that sum to `byte` above '0' each, letters and digits only.
std::array<unsigned, 4> spread(unsigned byte) {
  const unsigned quarter = byte / 4 + 0x30;
  std::array<unsigned, 4> c{quarter + byte % 4, quarter, quarter, quarter};
  for (bool again = true; again;) {
    again = false;
    for (std::size_t k = 0; k < 4; k += 2) {
      if (is_punctuation(c[k]) || is_punctuation(c[k + 1])) {
        ++c[k];
        --c[k + 1];
        again = true;
      }
    }
  }
  return c;
}

}  // namespace

void Checksum::add(std::span<const std::uint8_t> bytes) noexcept {
  // 2^32 words fit before the sum overflows; fold long before.
  while (!bytes.empty()) {
    const std::size_t n =
        bytes.size() < (std::size_t{1} << 24) ? bytes.size() : (std::size_t{1} << 24);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; i += 4) sum += load_be<std::uint32_t>(bytes.data() + i);
    wide_ += sum;
    wide_ = (wide_ & 0xffffffffU) + (wide_ >> 32);
    bytes = bytes.subspan(n);
  }
}

std::uint32_t Checksum::value() const noexcept {
  std::uint64_t v = wide_;
  while (v >> 32 != 0) v = (v & 0xffffffffU) + (v >> 32);
  return static_cast<std::uint32_t>(v);
}

std::string encode_checksum(std::uint32_t sum) {
  const std::uint32_t complement = ~sum;
  std::array<char, 16> ascii{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto c = spread((complement >> (24 - 8 * i)) & 0xffU);
    for (std::size_t j = 0; j < 4; ++j) ascii[4 * j + i] = static_cast<char>(c[j]);
  }
  std::string out(16, '0');
  for (std::size_t i = 0; i < 16; ++i) out[i] = ascii[(i + 15) % 16];
  return out;
}

}  // namespace fiberloom::fits
