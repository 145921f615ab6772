// SPDX-License-Identifier: BSD-3-Clause
// Flagged bins that lie together in the plane of fibres and wavelengths: one fault, one cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::report {

/// Rows and bins, the last ones included.
struct BinBox {
  std::size_t row = 0, last_row = 0, first = 0, last = 0;
};

struct Cluster {
  std::size_t bins = 0;  ///< flagged ones
  BinBox box;            ///< that holds them
};

/// Clusters of bins with any of `bits`, the largest first. Bins of one fibre belong together when
/// at most two others are between them, stretches of neighbouring fibres when they overlap.
[[nodiscard]] std::vector<Cluster> clusters(const Array2D<std::uint8_t>& flags, std::uint8_t bits);

}  // namespace fiberloom::report
