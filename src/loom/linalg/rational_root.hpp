// SPDX-License-Identifier: BSD-3-Clause
// All poles of a rational square root (rational_root_lane.hpp) in one piece.
#pragma once

#include <vector>

#include "loom/linalg/rational_root_lane.hpp"

namespace loom {

struct RationalRoot {
  std::vector<double> t, c;
  double error = 0;  ///< root_error()
};

/// K poles for [low, high], 0 < low < high.
[[nodiscard]] RationalRoot rational_root(double low, double high, int poles);

}  // namespace loom
