// SPDX-License-Identifier: BSD-3-Clause
// The page that shows planes of a volume: its histogram, and the text of all of it. Knows no files.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "loom/json/json.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Of values between low and high.
struct Histogram {
  static constexpr std::size_t kBars = 160;
  double low = 0, high = 0;
  std::vector<std::size_t> bars = std::vector<std::size_t>(kBars, 0);
  std::size_t count = 0, outside = 0, no_number = 0;
  double least = std::numeric_limits<double>::infinity(), greatest = -least, sum = 0, squares = 0;

  void add(std::span<const float> values);
  [[nodiscard]] Json json() const;
};

/// Of view.html with view.js' data. With `renew_s` the page asks for itself anew after so many
/// seconds.
[[nodiscard]] std::string page_of(const Json& data, const std::string& title, unsigned renew_s = 0);

}  // namespace tomoloom
