// SPDX-License-Identifier: BSD-3-Clause
// For tests of damaged files: numbers drawn in a fixed sequence, and how many rounds of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "loom/base/rng.hpp"

namespace loom::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : rng_(seed, 0) {}
  std::size_t below(std::size_t n) { return n == 0 ? 0 : rng_.block(count_++)[0] % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  CounterRng rng_;
  std::uint64_t count_ = 0;
};

/// FIBERLOOM_REPLAY_ROUNDS where it is set.
inline std::size_t replay_rounds(std::size_t otherwise) {
  const char* text = std::getenv("FIBERLOOM_REPLAY_ROUNDS");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

/// Up to 20 bytes are others; half of them among the first `start`, where groups and headers are.
inline std::vector<std::uint8_t> with_changed_bytes(std::span<const std::uint8_t> whole,
                                                    std::size_t start, Dice& dice) {
  std::vector<std::uint8_t> bytes(whole.begin(), whole.end());
  for (std::size_t n = 1 + dice.below(20); n > 0; --n) {
    const std::size_t at = dice.below(dice.one_in(2) ? bytes.size() : start);
    bytes[at] = static_cast<std::uint8_t>(
        dice.one_in(2) ? dice.below(256) : bytes[at] ^ (std::size_t{1} << dice.below(8)));
  }
  return bytes;
}

}  // namespace loom::test
