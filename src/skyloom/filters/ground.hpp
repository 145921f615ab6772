// SPDX-License-Identifier: BSD-3-Clause
// What depends on the azimuth alone, taken out of a detector's samples by least squares: the ground
// that a telescope sees beside the sky. Knows no detectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "skyloom/foundation.hpp"

namespace skyloom {

struct GroundTemplate {
  std::optional<std::size_t> order = {};  ///< Legendre polynomials of azimuth, from 0 on
  double bin_deg = 0;                     ///< or bins of azimuth, so wide; 0: polynomials
  std::optional<std::size_t> trend =
      5;  ///< polynomials of time from order 1 on, fitted beside them and left in the samples
  bool split = false;  ///< sweeps to growing and to falling azimuths each have their own
  [[nodiscard]] bool any() const noexcept { return order || bin_deg > 0; }
};

/// Most templates: equations are dense in polynomials, and sparse in bins.
inline constexpr std::size_t kMostGroundOrder = 30, kMostGroundBins = 100'000;

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
  std::size_t polynomials_ = 0, trends_ = 0, bins_ = 0;
  std::vector<double> phase_;         ///< of azimuth, -1 to 1; empty: bins
  std::vector<std::uint32_t> place_;  ///< the bin of each sample; with polynomials: which sweep
};

}  // namespace skyloom
