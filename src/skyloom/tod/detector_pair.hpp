// SPDX-License-Identifier: BSD-3-Clause
// Room for the samples of two detectors, which are read together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skyloom/tod/observation.hpp"

namespace skyloom {

struct DetectorPair {
  std::vector<double> values[2];
  std::vector<std::uint8_t> flags[2];
  Signal signals[2];

  /// One or two signals of so many samples, to be read: no more than there are detectors left.
  [[nodiscard]] std::span<const Signal> room(std::size_t samples, std::size_t left) {
    const std::size_t count = std::min<std::size_t>(2, left);
    for (std::size_t i = 0; i < count; ++i) {
      values[i].resize(samples);
      flags[i].resize(samples);
      signals[i] = {values[i], flags[i]};
    }
    return {signals, count};
  }
};

}  // namespace skyloom
