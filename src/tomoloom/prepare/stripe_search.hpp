// SPDX-License-Identifier: BSD-3-Clause
// Where stripes are, in the projections of all rows together (Kazantsev et al. 2023): weights that
// are small at the edges of stripes, and a mask of what is long, shallow and wide enough to be one.
// The numbers are those of TomoPy's stripes_detect3d and stripes_mask3d.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Of an array [angle][row][column] without gaps.
struct StackShape {
  std::size_t angles = 0, rows = 0, columns = 0;
  [[nodiscard]] std::size_t size() const noexcept { return angles * rows * columns; }
};

struct StripeSearch {
  std::size_t size = 10;  ///< angles to either side that the edge of a stripe lasts for, at least 1
  std::size_t radius = 3;  ///< pixels to either side that slopes are compared in, at least 1
};

/// Weights from 0 to 1, small at edges of stripes. With s = |p(x + 2) - p(x)|, a the mean of s over
/// radius angles and rows to either side and b that over radius columns on one side and three rows,
/// the smaller of min(a, b) / max(a, b) of both sides (0 where nothing varies); then, along angles,
/// the value of rank size - 1 of 2 size + 1. Windows are MirroredWindow's. Values are finite.
/// O(values (radius + size)).
void stripe_weights(std::span<const float> projections, const StackShape& shape,
                    const StripeSearch& search, std::span<float> weights, Executor& executor,
                    Isa isa = active_isa());

struct StripeMaskChoice {
  double threshold = 0.6;       ///< of weights, that are the edge of a stripe up to it
  std::size_t min_length = 20;  ///< angles, from 1 to those there are less 1
  std::size_t min_depth = 10;   ///< rows that a stripe does not go on for; 0: it may
  std::size_t min_width = 5;    ///< columns that are closed between edges, at least 1
  double sensitivity = 85;      ///< per cent of length and depth that count, above 0
};

/// Which values are of stripes: up to the threshold, not in more than `sensitivity` of min_depth
/// rows, in as much of min_length angles and in half of them; then gaps are closed that have such
/// on both sides within min_width / 2 columns or 2 min_width angles, min_width times over. O(values
/// (log(min_width) min_width)).
void stripe_mask(std::span<const float> weights, const StackShape& shape,
                 const StripeMaskChoice& choice, std::span<bool> mask, Executor& executor);

/// Vo et al. 2018, algorithm 4: which factors of columns leave the straight line that most of them
/// follow, sorted, by `snr` times what it spans.
[[nodiscard]] std::vector<bool> striped_columns(std::span<const double> factors, double snr);

}  // namespace tomoloom
