// SPDX-License-Identifier: BSD-3-Clause
// Which numbers an option takes, in words that a person reads: "from 1 to 4096".
#pragma once

#include <limits>
#include <string>

#include "loom/base/print.hpp"

namespace loom {

/// All numbers from `low` to `high`; above `low` only where that end is open. NaN is in none.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open = false;

  [[nodiscard]] constexpr bool contains(double value) const {
    return (open ? value > low : value >= low) && value <= high;
  }
  /// "1 to 4096" where both ends are given, else nothing.
  [[nodiscard]] std::string ends() const {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return low > -kNone && high < kNone ? print("%.6g to %.6g", low, high) : "";
  }
  /// "above 0", "of at least 0", "from 1 to 4096", "of any size"; follows "a number".
  [[nodiscard]] std::string words() const {
    const std::string both = ends();
    if (!both.empty()) return "from " + both;
    if (low == -std::numeric_limits<double>::infinity()) return "of any size";
    return print(open ? "above %.6g" : "of at least %.6g", low);
  }
};

/// NaN is none.
[[nodiscard]] constexpr Interval any_number() { return {}; }
[[nodiscard]] constexpr Interval above(double low) { return {.low = low, .open = true}; }
[[nodiscard]] constexpr Interval at_least(double low) { return {.low = low}; }
[[nodiscard]] constexpr Interval between(double low, double high) {
  return {.low = low, .high = high};
}

}  // namespace loom
