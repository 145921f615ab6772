// SPDX-License-Identifier: BSD-3-Clause
// The filters of filtered back projection by name, as TomoPy's users know them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

enum class Filter {
  kShepp,
  kNone,
  kRamlak,
  kCosine,
  kHann,
  kHamming,
  kParzen,
  kButterworth,
  kCustom,   ///< whatever its weights say, ramp included
  kCustom2d  ///< the same with weights of its own for each angle
};

/// Of each filter its name; the first is the default.
struct FilterName {
  Filter filter;
  const char* name;
};
[[nodiscard]] const std::vector<FilterName>& filter_names();

struct FilterChoice {
  Filter filter = Filter::kShepp;
  double cutoff = 0.5;  ///< cycles a pixel: of hann, hamming, parzen, butterworth
  double order = 8;     ///< of butterworth
  /// Of kCustom: what each frequency of a padded line is multiplied by, from 0 to below half a
  /// cycle a pixel; of kCustom2d [angle][frequency].
  std::vector<double> weights = {};
};

[[nodiscard]] constexpr bool takes_weights(Filter filter) noexcept {
  return filter == Filter::kCustom || filter == Filter::kCustom2d;
}

/// What the filter has beside the ramp at x cycles a pixel, 0 <= x <= 1/2. Of kNone, kCustom and
/// kCustom2d 1: they have no ramp either.
[[nodiscard]] double filter_window(const FilterChoice& choice, double x);

/// The ramp that belongs to convolution on a padded line of n pixels: transform of 1/4 at 0 and
/// -1/(pi k)^2 at odd k, cycles a pixel, for frequencies 0 ... n/2 - 1. |x| sampled instead would
/// take away the mean of the line (a dark shadow over the whole slice).
[[nodiscard]] std::vector<double> bandlimited_ramp(std::size_t n);

/// What frequencies 0, 1 ... of a padded line are multiplied by: of all angles the same, or of each
/// its own.
class FilterResponse {
 public:
  /// `ramp` of frequencies 0 ... n/2 - 1 of a line of n, as the method has it. Throws kScanMismatch
  /// where weights are not of their number, or none.
  FilterResponse(const FilterChoice& choice, std::vector<double> ramp, std::size_t angles);
  [[nodiscard]] double at(std::size_t angle, std::size_t frequency) const noexcept {
    return size_[angle * stride_ + frequency];
  }

 private:
  std::vector<double> size_;
  std::size_t stride_ = 0;  ///< from one angle to the next
};

}  // namespace tomoloom
