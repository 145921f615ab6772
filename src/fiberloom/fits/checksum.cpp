// SPDX-License-Identifier: BSD-3-Clause
// DATASUM and CHECKSUM.
#include "fiberloom/fits/checksum.hpp"

#include <algorithm>
#include <array>
#include <cstring>

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
  // Bytes of the same weight are summed apart, 16 bits a lane: no swapping, and vectors of any
  // width do it. A lane holds 257 bytes; 128 rounds stay below.
  constexpr std::size_t kLanes = 16, kStep = 2 * kLanes, kRounds = 128;
  const std::uint8_t* p = bytes.data();
  std::size_t left = bytes.size();
  while (left >= kStep) {
    const std::size_t rounds = std::min(left / kStep, kRounds);
    std::array<std::uint16_t, kLanes> low{}, high{};
    for (std::size_t r = 0; r < rounds; ++r, p += kStep) {
      std::array<std::uint16_t, kLanes> words;
      std::memcpy(words.data(), p, kStep);
      for (std::size_t i = 0; i < kLanes; ++i) {
        low[i] = static_cast<std::uint16_t>(low[i] + (words[i] & 0xffU));
        high[i] = static_cast<std::uint16_t>(high[i] + (words[i] >> 8));
      }
    }
    left -= rounds * kStep;
    std::array<std::uint64_t, 4> weight{};  // of the first, second ... byte of a word
    for (std::size_t i = 0; i < kLanes; ++i) {
      weight[2 * (i % 2)] += low[i];
      weight[2 * (i % 2) + 1] += high[i];
    }
    wide_ += (weight[0] << 24) + (weight[1] << 16) + (weight[2] << 8) + weight[3];
    wide_ = (wide_ & 0xffffffffU) + (wide_ >> 32);
  }
  for (; left >= 4; left -= 4, p += 4) wide_ += load_be<std::uint32_t>(p);
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
