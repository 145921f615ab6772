// SPDX-License-Identifier: BSD-3-Clause
// What depends on the azimuth alone, taken out of a detector's samples by least squares: the ground
// that a telescope sees beside the sky. Knows no detectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "skyloom/filters/ground_places.hpp"

namespace skyloom {

/// The templates of an observation, for all of its detectors. Keeps four to twelve bytes a sample.
class GroundFilter {
 public:
  /// `azimuth`: rad, of each sample, without jumps. Throws kUsage where bins are more than
  /// kMostGroundBins.
  GroundFilter(const GroundTemplate& options, std::span<const double> azimuth);

  /// Subtracts from all samples the templates that fit those whose flag is 0 and whose value is
  /// within 1e30. Samples in bins without a good one stay as they are, and are flagged. False, with
  /// nothing changed, where the good samples do not determine the coefficients to 1e-10.
  /// O(n (orders)^2).
  [[nodiscard]] bool subtract(std::span<double> values, std::span<std::uint8_t> flags) const;

 private:
  class Fit;
  GroundTemplate options_;
  std::size_t polynomials_ = 0, trends_ = 0;
  GroundPlaces at_;
};

}  // namespace skyloom
