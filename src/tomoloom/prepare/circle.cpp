// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/circle.hpp"

#include <algorithm>
#include <cmath>

namespace tomoloom {

void mask_circle(std::span<float> slice, std::size_t n, double ratio, float value) {
  const double middle = (static_cast<double>(n) - 1) / 2;
  const double radius = ratio * static_cast<double>(n) / 2;
  for (std::size_t r = 0; r < n; ++r) {
    const double v = static_cast<double>(r) - middle;
    const double left = radius * radius - v * v;
    // columns within [from, to)
    std::size_t from = n, to = n;
    if (left >= 0) {
      const double half = std::sqrt(left);
      from = static_cast<std::size_t>(std::max(0.0, std::ceil(middle - half)));
      to = static_cast<std::size_t>(
          std::clamp(std::floor(middle + half) + 1, 0.0, static_cast<double>(n)));
      from = std::min(from, to);
    }
    const auto row = slice.subspan(r * n, n);
    std::fill(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(from), value);
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(to), row.end(), value);
  }
}

}  // namespace tomoloom
