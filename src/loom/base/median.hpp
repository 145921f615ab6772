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

/// The middle one, of an even number the upper of the two, and 0 of none; reorders them.
template <class T>
[[nodiscard]] T upper_median(std::vector<T>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace loom
