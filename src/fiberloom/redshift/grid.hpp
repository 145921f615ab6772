// SPDX-License-Identifier: BSD-3-Clause
// The redshifts of the coarse scan: the rules of the field, made denser where a step would jump
// over a line.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "fiberloom/foundation.hpp"

namespace fiberloom::redshift {

/// From `low` (included) to `high` (excluded). Steps are equal in log10(1 + z), or in z for stars.
struct GridRule {
  double low, high, step;
};

/// What is scanned with a template that brings no redshifts of its own; the peer's defaults.
struct GridRules {
  GridRule galaxy{-0.005, 1.7, 3e-4};
  GridRule qso{0.05, 6.0, 5e-4};
  GridRule star{-0.002, 0.00201, 4e-5};
};

/// The redshifts of a rule, rounded as numpy's arange() rounds them. Throws kUsage: bounds that are
/// no redshifts, a step that is not positive, more than a million redshifts.
[[nodiscard]] std::vector<double> logarithmic_grid(const GridRule& rule);
[[nodiscard]] std::vector<double> linear_grid(const GridRule& rule);

/// The grid of a spectral type without one of its own; empty for a type that has no rule.
[[nodiscard]] std::vector<double> default_grid(std::string_view spectype, const GridRules& rules);

/// `grid` with equally many redshifts put into each gap, so that no step is wider than `step_kms`.
/// Every old redshift stays.
[[nodiscard]] std::vector<double> denser(std::span<const double> grid, double step_kms);

}  // namespace fiberloom::redshift
