// SPDX-License-Identifier: BSD-3-Clause
// The filters of filtered back projection by name, as TomoPy's users know them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

enum class Filter { kShepp, kNone, kRamlak, kCosine, kHann, kHamming, kParzen, kButterworth };

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
};

/// What the filter has beside the ramp at x cycles a pixel, 0 <= x <= 1/2. Of kNone 1: it has no
/// ramp either.
[[nodiscard]] double filter_window(const FilterChoice& choice, double x);

/// The ramp that belongs to convolution on a padded line of n pixels: transform of 1/4 at 0 and
/// -1/(pi k)^2 at odd k, cycles a pixel, for frequencies 0 ... n/2 - 1. |x| sampled instead would
/// take away the mean of the line (a dark shadow over the whole slice).
[[nodiscard]] std::vector<double> bandlimited_ramp(std::size_t n);

}  // namespace tomoloom
