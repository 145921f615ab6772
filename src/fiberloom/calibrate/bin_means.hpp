// SPDX-License-Identifier: BSD-3-Clause
// Means over bins of straight lines through points of one grid, planned once for many spectra on
// it. Knows no spectra.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fiberloom::calibrate {

/// As resample_flux(), whose numbers these are to rounding, where x reaches beyond all bins.
class BinMeans {
 public:
  /// Bins about each `at`, bounded half-way to its neighbours. Throws kWrongShape where x ends
  /// within them.
  BinMeans(std::span<const double> at, std::span<const double> x);
  /// out[i] of the spectrum y [x]. O(points of x within the bins + bins).
  void operator()(std::span<const float> y, std::span<double> out) const;

 private:
  std::size_t first_ = 0;       ///< of x that is wanted
  std::vector<double> half_;    ///< half the interval behind each point of x that is wanted
  std::vector<std::size_t> k_;  ///< [edges] the point before it, from first_ on
  std::vector<double> t_;       ///< [edges] its share of the interval behind that
  std::vector<double> inverse_width_;
};

}  // namespace fiberloom::calibrate
