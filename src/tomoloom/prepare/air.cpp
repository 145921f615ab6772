// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/air.hpp"

#include <algorithm>

#include "tomoloom/prepare/normalize_lane.hpp"

namespace tomoloom {
void balance_air(std::span<float> projection, std::size_t columns, std::size_t air) {
  air = std::min(air, columns);
  for (std::size_t at = 0; at < projection.size(); at += columns) {
    const std::span<float> row = projection.subspan(at, columns);
    const lane::Beam beam =
        lane::beam_of(row.data(), static_cast<long>(columns), static_cast<long>(air));
    for (std::size_t x = 0; x < columns; ++x) row[x] /= beam.at(static_cast<float>(x));
  }
}

}  // namespace tomoloom
