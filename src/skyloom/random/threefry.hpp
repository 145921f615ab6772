// SPDX-License-Identifier: BSD-3-Clause
// Threefry2x64 with 20 rounds (Salmon et al. 2011), the generator of the streams that CMB codes
// share: a number is a function of key and counter alone, so that any thread may draw any of them.
#pragma once

#include <array>
#include <cstdint>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// Two words that name a stream, or a place in it.
struct Words {
  std::uint64_t first = 0, second = 0;
};

inline constexpr std::array<int, 8> kThreefryTurns{16, 42, 12, 31, 16, 32, 24, 21};
inline constexpr std::uint64_t kThreefryParity = 0x1BD11BDAA9FC1A22U;

/// Both words of the block with this counter. The streams use the first one of each block.
[[nodiscard]] constexpr Words threefry(Words key, Words counter) noexcept {
  const std::uint64_t keys[3] = {key.first, key.second, kThreefryParity ^ key.first ^ key.second};
  std::uint64_t a = counter.first + keys[0], b = counter.second + keys[1];
  for (unsigned round = 0; round < 20; ++round) {
    const int turn = kThreefryTurns[round % 8];
    a += b;
    b = (b << turn | b >> (64 - turn)) ^ a;
    if (round % 4 == 3) {
      const unsigned time = round / 4 + 1;
      a += keys[time % 3];
      b += keys[(time + 1) % 3] + time;
    }
  }
  return {a, b};
}

}  // namespace skyloom
