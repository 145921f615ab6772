// SPDX-License-Identifier: BSD-3-Clause
// The median of numbers in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace loom {

/// Of at least one value, the mean of the middle two when their number is even; reorders them.
[[nodiscard]] inline double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace loom
