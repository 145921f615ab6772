// SPDX-License-Identifier: BSD-3-Clause
// A direction that moves slowly: computed at nodes, evenly apart, and along the chord between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "skyloom/pixels/healpix.hpp"

namespace skyloom {

class DirectionTable {
 public:
  /// From 0 to `last` seconds, `steps` stretches; `at` says where it is at a time.
  template <class At>
  DirectionTable(double last, std::size_t steps, At at)
      : step_(std::max(last / static_cast<double>(steps), 1e-6)) {
    for (std::size_t i = 0; i <= steps; ++i) nodes_.push_back(at(static_cast<double>(i) * step_));
  }

  /// Of the length that the chord has there.
  [[nodiscard]] Direction at(double seconds) const noexcept {
    const double place = seconds / step_;
    const std::size_t k = std::min(static_cast<std::size_t>(place), nodes_.size() - 2);
    const double share = place - static_cast<double>(k);
    const Direction &a = nodes_[k], &b = nodes_[k + 1];
    return {a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z)};
  }

 private:
  double step_;
  std::vector<Direction> nodes_;
};

}  // namespace skyloom
