// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/view_plane.hpp"

#include <cmath>

#include "loom/page/levels.hpp"

namespace tomoloom {
Plane::Plane(std::size_t height, std::size_t width, std::size_t most_side)
    : height_(height),
      width_(width),
      down_((height + most_side - 1) / most_side),
      across_((width + most_side - 1) / most_side),
      lines_((height + down_ - 1) / down_),
      columns_((width + across_ - 1) / across_),
      sum_(lines_ * columns_, 0),
      count_(lines_ * columns_, 0) {}

void Plane::set(std::size_t line, std::size_t column, float value) {
  if (!std::isfinite(value)) return;
  const std::size_t at = line / down_ * columns_ + column / across_;
  sum_[at] += static_cast<double>(value);
  ++count_[at];
}

void Plane::set(std::span<const float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) set(i / width_, i % width_, values[i]);
}

Json Plane::json(const char* title, const char* of) const {
  const page::Levels levels = page::levels_of(
      sum_.size(), [&](std::size_t i) { return count_[i] > 0 ? sum_[i] / count_[i] : NAN; });
  return {{"title", title},       {"of", of},
          {"width", columns_},    {"height", lines_},
          {"across", across_},    {"down", down_},
          {"full_width", width_}, {"full_height", height_},
          {"low", levels.low},    {"step", levels.step},
          {"data", levels.base64}};
}

}  // namespace tomoloom
