// SPDX-License-Identifier: BSD-3-Clause
// A picture on the page of a volume. Knows no files.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loom/json/json.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// A picture that lines are added to, averaged down to so many pixels in both directions.
class Plane {
 public:
  static constexpr std::size_t kMostSide = 640;

  Plane(std::size_t height, std::size_t width, std::size_t most_side = kMostSide);

  void set(std::size_t line, std::size_t column, float value);
  /// All of it, line by line.
  void set(std::span<const float> values);
  /// 16 bits a pixel from the least value to the greatest, little-endian.
  [[nodiscard]] Json json(const char* title, const char* of) const;

 private:
  std::size_t height_, width_, down_, across_, lines_, columns_;
  std::vector<double> sum_;
  std::vector<unsigned> count_;
};

}  // namespace tomoloom
