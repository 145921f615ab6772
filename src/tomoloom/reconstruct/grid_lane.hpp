// SPDX-License-Identifier: BSD-3-Clause
// Gridding with slices innermost: a weight and an index serve all slices of the group, and every
// update is a contiguous multiply-add. The grid is filled by rows (each sample goes to the rows
// that are its own), so that threads never meet and a row is transformed while it is in the cache.
#pragma once

#include <algorithm>
#include <cstddef>

#include "tomoloom/reconstruct/grid_points_lane.hpp"

namespace tomoloom::lane {

template <class V>
struct GridTable {
  static constexpr std::size_t width = V::width;

  /// Pixels [x, x + width) of `width` slices, turned; slices that are not there are zero.
  static void turn_in(const float* const* rows, std::size_t slices, std::size_t first_slice,
                      std::size_t x, std::size_t columns, float* out) {
    V block[width];
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t slice = first_slice + i;
      if (slice >= slices) {
        block[i] = V(0);
      } else if (x + width <= columns) {
        block[i] = V::load(rows[slice] + x);
      } else {
        float tail[width] = {};
        for (std::size_t k = 0; x + k < columns; ++k) tail[k] = rows[slice][x + k];
        block[i] = V::load(tail);
      }
    }
    transpose(block);
    for (std::size_t i = 0; i < width && x + i < columns; ++i) {
      block[i].store(out + (x + i) * kElementFloats);
    }
  }
  static void gather(const float* const* rows, std::size_t slices, std::size_t columns,
                     float* out) {
    for (std::size_t lane = 0; lane < kElementFloats; lane += width) {
      for (std::size_t x = 0; x < columns; x += width) {
        turn_in(rows, slices, lane, x, columns, out + lane);
      }
    }
  }

  static void weigh(const float* spectrum, std::size_t padded, const float* coef, std::size_t radii,
                    float* samples) {
    for (std::size_t j = 0; j < radii; ++j) {
      for (std::size_t lane = 0; lane < kLanesOfGroup; lane += width) {
        weigh_point<V>(spectrum, padded, coef, radii, samples, j, lane);
      }
    }
  }

  template <int W>
  static void spread_width(const SpreadView& view, const GridRows& rows, long turn) {
    for (std::size_t a = 0; a < view.angles; ++a) {
      add_angle<V, W, false>(view, a, rows, turn, AllLanes{});
      add_angle<V, W, true>(view, a, rows, turn, AllLanes{});
    }
  }
  static void spread(const SpreadView& view, const GridRows& rows, long turn) {
    with_width(view.width, [&]<int W>() { spread_width<W>(view, rows, turn); });
  }

  static void crop(const float* from, std::size_t grid, std::size_t first, const float* scale,
                   std::size_t image, float* to) {
    for (std::size_t k = 0; k < image; ++k) {
      const float* const a = from + (k + grid - first) % grid * kElementFloats;
      const V s(scale[k]);
      for (std::size_t lane = 0; lane < kElementFloats; lane += width) {
        (s * V::load(a + lane)).store(to + k * kElementFloats + lane);
      }
    }
  }

  static void scatter(const float* from, std::size_t grid, std::size_t first, const float* scale,
                      std::size_t image, float* const* rows, std::size_t slices) {
    for (std::size_t lane = 0; lane < kElementFloats; lane += width) {
      for (std::size_t x = 0; x < image; x += width) {
        V block[width];
        const std::size_t n = std::min(width, image - x);
        for (std::size_t i = 0; i < width; ++i) {
          const std::size_t k = std::min(x + i, image - 1);
          block[i] =
              V(scale[k]) * V::load(from + (k + grid - first) % grid * kElementFloats + lane);
        }
        transpose(block);
        for (std::size_t i = 0; i < width && lane + i < slices; ++i) {
          float* const to = rows[lane + i] + x;
          if (n == width) {
            block[i].store(to);
          } else {
            for (std::size_t k = 0; k < n; ++k) to[k] = lane_value(block[i], static_cast<int>(k));
          }
        }
      }
    }
  }

  static constexpr GridKernels table() { return {gather, weigh, spread, crop, scatter}; }
};

}  // namespace tomoloom::lane
