// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/air.hpp"

#include <algorithm>

namespace tomoloom {
namespace {

float mean_of(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  const auto mean = static_cast<float>(sum / static_cast<double>(values.size()));
  return mean > 0 ? mean : 1;
}

}  // namespace

void balance_air(std::span<float> projection, std::size_t columns, std::size_t air) {
  air = std::min(air, columns);
  for (std::size_t at = 0; at < projection.size(); at += columns) {
    const std::span<float> row = projection.subspan(at, columns);
    const float left = mean_of(row.first(air)), right = mean_of(row.last(air));
    const float step = (right - left) / static_cast<float>(std::max<std::size_t>(1, columns - 1));
    for (std::size_t x = 0; x < columns; ++x) row[x] /= left + step * static_cast<float>(x);
  }
}

}  // namespace tomoloom
