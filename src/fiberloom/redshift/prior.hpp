// SPDX-License-Identifier: BSD-3-Clause
// What is known of a redshift beforehand, as an addition to chi2: -2 log of a density.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"

namespace fiberloom::redshift {

struct Prior {
  enum class Shape { kNone, kGaussian, kLorentzian, kTopHat };
  Shape shape = Shape::kNone;
  double z = 0, sigma = 1;  ///< of a top hat: its whole width
};

/// Infinite outside a top hat.
[[nodiscard]] double prior_chi2(const Prior& prior, double z) noexcept;

/// The peer's on a grid: NaN outside a top hat, infinity at the points next to it (or at its ends
/// where the grid ends), so that no minimum lies outside.
[[nodiscard]] std::vector<double> redrock_prior(const Prior& prior, std::span<const double> z);

}  // namespace fiberloom::redshift
