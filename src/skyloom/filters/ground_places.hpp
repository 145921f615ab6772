// SPDX-License-Identifier: BSD-3-Clause
// Where the samples of an observation stand in templates of azimuth. Knows no fits.
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
  // of templates that are fitted together
  double step = 0;        ///< samples after which all are anew, as steps_of(); 0: never
  std::size_t drift = 0;  ///< order of the polynomial of time that each bin's amplitude is
  /// Beside polynomials the bin of this sample has no template; none: the fullest one.
  std::optional<std::size_t> left_out = {};
  [[nodiscard]] bool any() const noexcept { return order || bin_deg > 0; }
};

/// Most templates: equations are dense in polynomials, and sparse in bins.
inline constexpr std::size_t kMostGroundOrder = 30, kMostGroundBins = 100'000;

struct GroundPlaces {
  std::vector<double> phase;  ///< of azimuth, -1 to 1; empty: bins
  std::vector<std::uint32_t>
      place;                     ///< the bin of each sample; with polynomials: which way it goes
  std::size_t bins = 0;          ///< of all ways and steps together
  std::size_t azimuth_bins = 0;  ///< of one way and step: place modulo it is the bin of azimuth
};

/// How many steps of time there are in so many samples: the last one is 0.75 to 1.75 times as long
/// as the others, as the peer's.
[[nodiscard]] std::size_t steps_of(std::size_t samples, double step) noexcept;

/// `azimuth`: rad, of each sample, without jumps. Throws kUsage where bins are more than
/// kMostGroundBins.
[[nodiscard]] GroundPlaces ground_places(const GroundTemplate& options,
                                         std::span<const double> azimuth);

}  // namespace skyloom
