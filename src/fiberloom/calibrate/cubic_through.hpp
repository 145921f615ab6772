// SPDX-License-Identifier: BSD-3-Clause
// The cubic spline through points. (Through noisy ones: spline.hpp.)
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fiberloom::calibrate {

/// What the curve does at its ends. kNatural: it is straight there. kOneCubic: the first two
/// intervals, and the last two, share a cubic ("not a knot", as FITPACK's and SciPy's splines).
enum class Ends { kNatural, kOneCubic };

class CubicThrough {
 public:
  /// x increases; three points at least, four with Ends::kOneCubic.
  CubicThrough(std::vector<double> x, std::vector<double> y, Ends ends);
  /// Beyond the points the outer pieces go on. O(log n).
  [[nodiscard]] double operator()(double at) const;
  /// The same at values that do not fall; O(n + values).
  [[nodiscard]] std::vector<double> along(std::span<const double> at) const;

 private:
  [[nodiscard]] double within(std::size_t above, double at) const;
  std::vector<double> x_, y_, second_;  ///< second derivatives
};

}  // namespace fiberloom::calibrate
