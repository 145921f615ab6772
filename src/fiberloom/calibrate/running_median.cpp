// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/running_median.hpp"

#include <algorithm>

namespace fiberloom::calibrate {

std::vector<double> running_median(std::span<const double> x, std::size_t width) {
  const std::size_t n = x.size(), before = width / 2, behind = width - before;
  const auto at = [&](std::size_t i) {
    return i < before || i - before >= n ? 0.0 : x[i - before];
  };
  // positions count from `before` in front of the first: the window of i is [i, i + width)
  std::vector<double> sorted(width), out(n);
  for (std::size_t k = 0; k < width; ++k) sorted[k] = at(k);
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = sorted[before];
    if (i + 1 == n) break;
    const double leaves = at(i), comes = at(i + before + behind);
    if (leaves == comes) continue;
    auto hole = std::lower_bound(sorted.begin(), sorted.end(), leaves);
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), comes);
    if (place <= hole) {
      std::move_backward(place, hole, hole + 1);
      *place = comes;
    } else {
      std::move(hole + 1, place, hole);
      *(place - 1) = comes;
    }
  }
  return out;
}

std::vector<double> running_mean(std::span<const double> x, std::span<const double> used,
                                 std::size_t width) {
  const std::size_t n = x.size(), before = width / 2;
  std::vector<double> sum(n + 1, 0.0), count(n + 1, 0.0), out(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const bool in = used[i] > 0;
    sum[i + 1] = sum[i] + (in ? x[i] : 0);
    count[i + 1] = count[i] + (in ? 1 : 0);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = i > before ? i - before : 0, to = std::min(n, i + width - before);
    const double there = count[to] - count[from];
    if (there > 0) out[i] = (sum[to] - sum[from]) / there;
  }
  return out;
}

}  // namespace fiberloom::calibrate
