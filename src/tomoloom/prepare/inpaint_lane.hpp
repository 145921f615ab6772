// SPDX-License-Identifier: BSD-3-Clause
// Weighted sums of inpaint() on packs: as many sums as kInpaintLanes on every level, added in one
// order at the end.
#pragma once

#include <cstddef>

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/prepare/inpaint_kernels.hpp"

namespace tomoloom::lane {

template <class V>
struct InpaintTable {
  static constexpr std::size_t kPacks = kInpaintLanes / V::width;

  static float sum_of(const V* packs) {
    float lanes[kInpaintLanes];
    for (std::size_t i = 0; i < kPacks; ++i) packs[i].store(lanes + i * V::width);
    for (std::size_t half = kInpaintLanes / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    }
    return lanes[0];
  }
  /// The columns' weights come last: they are the same for every line.
  static WeightedSum weighted_sum(const InpaintWindow& w) {
    V values[kPacks], weights[kPacks];
    for (std::size_t i = 0; i < kPacks; ++i) values[i] = weights[i] = V(0);
    for (std::size_t x = 0; x < w.columns; x += kInpaintLanes) {
      V lines[kPacks], there[kPacks];
      for (std::size_t i = 0; i < kPacks; ++i) lines[i] = there[i] = V(0);
      for (std::size_t z = 0; z < w.planes; ++z) {
        for (std::size_t y = 0; y < w.rows; ++y) {
          const float* const line = w.corner + z * w.plane_step + y * w.row_step + x;
          const V of_line(w.of_plane[z] * w.of_row[y]);
          FL_UNROLL
          for (std::size_t i = 0; i < kPacks; ++i) {
            const V value = V::load(line + i * V::width);
            lines[i] = fma(of_line, value, lines[i]);
            there[i] += select_positive(abs(value), of_line, V(0));
          }
        }
      }
      for (std::size_t i = 0; i < kPacks; ++i) {
        const V of_column = V::load(w.of_column + x + i * V::width);
        values[i] = fma(of_column, lines[i], values[i]);
        weights[i] = fma(of_column, there[i], weights[i]);
      }
    }
    return {sum_of(values), sum_of(weights)};
  }

  static constexpr InpaintKernels table() { return {weighted_sum}; }
};

}  // namespace tomoloom::lane
