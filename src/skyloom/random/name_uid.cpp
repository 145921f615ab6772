// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/random/name_uid.hpp"

#include <bit>
#include <cmath>
#include <vector>

namespace skyloom {
namespace {

constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

/// The message, a one, zeros, and its length in bits: whole blocks of 64 bytes.
std::vector<std::uint8_t> padded(std::string_view text) {
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  bytes.push_back(0x80);
  while (bytes.size() % 64 != 56) bytes.push_back(0);
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  return bytes;
}

using State = std::array<std::uint32_t, 4>;

void add_block(const std::uint8_t* block, State& state) {
  std::uint32_t words[16];
  for (unsigned i = 0; i < 16; ++i) {
    words[i] = 0;
    for (unsigned k = 0; k < 4; ++k) {
      words[i] |= static_cast<std::uint32_t>(block[4 * i + k]) << (8 * k);
    }
  }
  auto [a, b, c, d] = state;
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned part = i / 16;
    std::uint32_t mixed = 0;
    unsigned word = i;
    if (part == 0) {
      mixed = (b & c) | (~b & d);
    } else if (part == 1) {
      mixed = (d & b) | (~d & c);
      word = (5 * i + 1) % 16;
    } else if (part == 2) {
      mixed = b ^ c ^ d;
      word = (3 * i + 5) % 16;
    } else {
      mixed = c ^ (b | ~d);
      word = (7 * i) % 16;
    }
    const auto constant = static_cast<std::uint32_t>(0x1p32 * std::fabs(std::sin(i + 1.0)));
    const std::uint32_t sum = mixed + a + constant + words[word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kTurns[part][i % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::array<std::uint8_t, 16> md5(std::string_view text) {
  const std::vector<std::uint8_t> bytes = padded(text);
  State state{0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U};
  for (std::size_t at = 0; at < bytes.size(); at += 64) add_block(bytes.data() + at, state);
  std::array<std::uint8_t, 16> sum{};
  for (unsigned i = 0; i < 16; ++i) {
    sum[i] = static_cast<std::uint8_t>(state[i / 4] >> (8 * (i % 4)));
  }
  return sum;
}

std::uint32_t name_uid(std::string_view name) {
  const auto sum = md5(name);
  std::uint32_t low = 0;
  for (unsigned i = 0; i < 4; ++i) low |= static_cast<std::uint32_t>(sum[i]) << (8 * i);
  return low & 0x7fffffffU;
}

}  // namespace skyloom
