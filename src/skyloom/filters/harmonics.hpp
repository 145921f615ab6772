// SPDX-License-Identifier: BSD-3-Clause
// What goes with the angle of a half-wave plate, taken out of a detector's samples by least
// squares: sines and cosines of its multiples, beside polynomials of time. Knows no detectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "skyloom/foundation.hpp"
#include "skyloom/pointing/stretch.hpp"

namespace skyloom {

struct HarmonicTemplate {
  std::size_t harmonics = 0;  ///< of the angle, from the first on; 0: none are looked for
  std::optional<std::size_t> trend =
      5;  ///< polynomials of time from order 0 on, fitted beside them and left in the samples
  bool drift = false;    ///< amplitudes grow or fall evenly over a stretch
  bool detrend = false;  ///< the trend goes as well
  [[nodiscard]] bool any() const noexcept { return harmonics > 0; }
};

/// Beyond that the sums over a stretch leave the caches, and little of the samples would be left.
inline constexpr std::size_t kMostHarmonics = 30, kMostPlateTrend = 30;

/// The templates of an observation, for all of its detectors. Keeps 16 bytes a sample.
class HarmonicFilter {
 public:
  /// `angles`: rad, of each sample. `stretches`: what is fitted each by itself, growing and apart.
  HarmonicFilter(const HarmonicTemplate& options, std::span<const double> angles,
                 std::span<const Stretch> stretches);

  [[nodiscard]] std::span<const Stretch> stretches() const noexcept { return stretches_; }
  /// Subtracts from all samples of stretch `number` the harmonics that fit those whose flag is 0
  /// and whose value is within 1e30; `values` and `flags` are of the whole observation. False, with
  /// nothing changed, where the good samples do not determine the coefficients to 1e-10. O(n
  /// templates), O(n templates^2) where more than a quarter is left out. To some eps of the largest
  /// value: fitted twice.
  [[nodiscard]] bool subtract(std::size_t number, std::span<double> values,
                              std::span<const std::uint8_t> flags) const;
  /// Samples of `gap` become what the templates, trend too, say by the good samples of `around`,
  /// which holds it. False, with nothing changed, as above.
  [[nodiscard]] bool fill(const Stretch& around, const Stretch& gap, std::span<double> values,
                          std::span<const std::uint8_t> flags) const;

 private:
  class Columns;
  class Fit;
  HarmonicTemplate options_;
  std::vector<double> cosines_, sines_;  ///< of the angles
  std::vector<Stretch> stretches_;
  std::vector<std::vector<double>> matrices_;  ///< of each stretch, all samples good
};

}  // namespace skyloom
