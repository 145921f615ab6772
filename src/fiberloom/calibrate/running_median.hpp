// SPDX-License-Identifier: BSD-3-Clause
// Medians and means over a window that moves along a spectrum: what of it is broad. Knows no
// spectra.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fiberloom::calibrate {

/// out[i]: the value number width / 2 (from 0) in the order of size of x[i - width / 2] ... , width
/// of them; 0 is what lies beyond the ends. x holds no NaN. O(n width) moves of memory, O(n log
/// width) comparisons. Precondition: width > 0.
[[nodiscard]] std::vector<double> running_median(std::span<const double> x, std::size_t width);

/// out[i]: the mean of x[i - width / 2] ... , width of them, as far as they are there and used > 0;
/// 0 where none is. Linear in x: noise leaves it where it is, which of a median is not so. O(n).
[[nodiscard]] std::vector<double> running_mean(std::span<const double> x,
                                               std::span<const double> used, std::size_t width);

}  // namespace fiberloom::calibrate
