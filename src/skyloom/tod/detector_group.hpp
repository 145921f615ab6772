// SPDX-License-Identifier: BSD-3-Clause
// Room for the samples of detectors that are read together: two, where a source says no other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skyloom/tod/observation.hpp"

namespace skyloom {

struct DetectorGroup {
  std::vector<std::vector<double>> values;
  std::vector<std::vector<std::uint8_t>> flags;
  std::vector<Signal> signals;

  /// Signals of so many samples, to be read: no more than a group has and there are detectors left.
  [[nodiscard]] std::span<const Signal> room(std::size_t samples, std::size_t left,
                                             std::size_t group = 2) {
    const std::size_t count = std::min(group, left);
    if (values.size() < count) {
      values.resize(count);
      flags.resize(count);
      signals.resize(count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      values[i].resize(samples);
      flags[i].resize(samples);
      signals[i] = {values[i], flags[i]};
    }
    return {signals.data(), count};
  }
};

}  // namespace skyloom
