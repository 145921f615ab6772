// SPDX-License-Identifier: BSD-3-Clause
// Some samples that follow one another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// Samples [first, end).
struct Stretch {
  std::size_t first = 0, end = 0;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// What lies in no stretch is flagged; stretches grow.
inline void flag_between(const std::vector<Stretch>& stretches, std::span<std::uint8_t> flags) {
  std::size_t from = 0;
  const auto flag_to = [&](std::size_t end) {
    if (end > from) std::fill_n(flags.data() + from, end - from, std::uint8_t{1});
  };
  for (const Stretch& stretch : stretches) {
    flag_to(stretch.first);
    from = std::max(from, stretch.end);
  }
  flag_to(flags.size());
}

}  // namespace skyloom
