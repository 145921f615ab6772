// SPDX-License-Identifier: BSD-3-Clause
// What was measured of the traces of a frame. Numbers alone: extract/traces/ says how they come.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "fiberloom/psf/trace_change.hpp"

namespace fiberloom {

/// One parameter's change over the CCD.
struct TraceFit {
  int degree = -1;           ///< that what was seen can bear, at most the one asked for; < 0: none
  std::vector<double> coef;  ///< [term] of the degree asked for, pixels; empty: not measured
  Array2D<double> covariance;            ///< [term][term] of them
  std::size_t windows = 0, dropped = 0;  ///< measurements used, and such that stood out
  double chi2 = 0;  ///< of the former about the polynomial, a degree of freedom; errors know it

  [[nodiscard]] bool measured() const noexcept { return degree >= 0; }
  /// Pixels, at a place of the domain; `asked`: the degree of coef.
  [[nodiscard]] double value(int asked, double u, double v) const;
  [[nodiscard]] double error(int asked, double u, double v) const;
};

/// sqrt(t^T C t).
[[nodiscard]] double trace_error(const Array2D<double>& covariance,
                                 const std::vector<double>& term);

/// One extraction and what it showed: fit of the pixels before the change of the round.
struct TraceRound {
  double chi2 = 0;
  std::size_t pixels = 0, parameters = 0;
  double largest_step = 0;  ///< of the domain's corners and middle, pixels
};

struct TraceReport {
  int degree = -1;  ///< asked for; < 0: nobody asked
  TraceDomain domain;
  std::array<TraceFit, kTraceParameters> parameters;
  std::vector<TraceRound> rounds;
  bool settled = false;  ///< the last step was small against its error

  /// What the PSF is to be changed by.
  [[nodiscard]] TraceChange change() const;
};

}  // namespace fiberloom
