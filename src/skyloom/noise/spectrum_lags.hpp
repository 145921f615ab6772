// SPDX-License-Identifier: BSD-3-Clause
// From spectra to filters in time. For offset_filter.cpp and inverse_covariance.cpp.
#pragma once

#include <cstddef>
#include <vector>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// y(x) between knots, linear in both logarithms, constant beyond them.
class LogCurve {
 public:
  /// Knots at 0 and below are left out.
  LogCurve(const std::vector<double>& x, const std::vector<double>& y);
  [[nodiscard]] double operator()(double x) const;

 private:
  std::vector<double> x_, y_;
};

/// Lags 0, 1 ... length / 2 - 1 of the filter with a real symmetric spectrum of `length`
/// frequencies, a power of two; `half` has those to the middle.
[[nodiscard]] std::vector<double> lags_of_spectrum(const std::vector<double>& half,
                                                   std::size_t length);

}  // namespace skyloom
