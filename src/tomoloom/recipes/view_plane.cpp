// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/view_plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace tomoloom {
namespace {

constexpr unsigned kNoNumber = 65535;

std::string base64(const std::vector<std::uint8_t>& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? bytes[i + k] : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

}  // namespace

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
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    if (count_[i] == 0) continue;
    low = std::min(low, sum_[i] / count_[i]);
    high = std::max(high, sum_[i] / count_[i]);
  }
  if (!(low <= high)) low = high = 0;
  const double step = (high - low) / (kNoNumber - 1);
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    unsigned level = kNoNumber;
    if (count_[i] > 0) {
      level = step > 0 ? static_cast<unsigned>(std::lround((sum_[i] / count_[i] - low) / step)) : 0;
    }
    bytes.push_back(static_cast<std::uint8_t>(level & 255));
    bytes.push_back(static_cast<std::uint8_t>(level >> 8));
  }
  return {{"title", title},    {"of", of},      {"width", columns_},    {"height", lines_},
          {"across", across_}, {"down", down_}, {"full_width", width_}, {"full_height", height_},
          {"low", low},        {"step", step},  {"data", base64(bytes)}};
}

}  // namespace tomoloom
