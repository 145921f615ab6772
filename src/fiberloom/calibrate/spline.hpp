// SPDX-License-Identifier: BSD-3-Clause
// Cubic splines through noisy numbers by weighted least squares, with knots as far apart as is
// asked for. Knows no spectra.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace fiberloom::calibrate {

/// min over splines S of sum_i weight_i (y_i - S(x_i))^2, evaluated at `at`; beyond x the outer
/// pieces go on. Inner knots lie half a spacing from the ends and one spacing apart (the spacing
/// that fits a whole number of times), those that have no x within a spacing are left out. x
/// increases, weights are above 0, both [n] as y. nullopt where x does not determine the spline
/// (the conditions of Schoenberg and Whitney). O(n + knots).
[[nodiscard]] std::optional<std::vector<double>> fit_spline(std::span<const double> at,
                                                            std::span<const double> x,
                                                            std::span<const double> y,
                                                            std::span<const double> weight,
                                                            double spacing);

/// fit_spline() of one grid many times over, evaluated on all of it: knots and basis are kept. The
/// same bytes.
class SplineOnGrid {
 public:
  SplineOnGrid(std::span<const double> grid, double spacing);
  ~SplineOnGrid();
  SplineOnGrid(const SplineOnGrid&) = delete;
  SplineOnGrid& operator=(const SplineOnGrid&) = delete;

  /// Points of weight 0 are not there. y, weight: [grid].
  [[nodiscard]] std::optional<std::vector<double>> fit(std::span<const double> y,
                                                       std::span<const double> weight) const;

 private:
  struct Kept;
  std::unique_ptr<const Kept> kept_;
};

}  // namespace fiberloom::calibrate
