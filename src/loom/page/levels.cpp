// SPDX-License-Identifier: BSD-3-Clause
#include "loom/page/levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace loom::page {
namespace {

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

Levels levels_of(std::size_t count, const std::function<double(std::size_t)>& value) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < count; ++i) {
    const double at = value(i);
    if (!std::isfinite(at)) continue;
    low = std::min(low, at);
    high = std::max(high, at);
  }
  if (!(low <= high)) low = high = 0;
  Levels out{.low = low, .step = (high - low) / (kNoLevel - 1), .base64 = {}};
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const double at = value(i);
    unsigned level = kNoLevel;
    if (std::isfinite(at)) {
      level = out.step > 0 ? static_cast<unsigned>(std::lround((at - low) / out.step)) : 0;
    }
    bytes.push_back(static_cast<std::uint8_t>(level & 255));
    bytes.push_back(static_cast<std::uint8_t>(level >> 8));
  }
  out.base64 = base64(bytes);
  return out;
}

}  // namespace loom::page
