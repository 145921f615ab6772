// SPDX-License-Identifier: BSD-3-Clause
// Gridding with slices innermost: a weight and an index serve all slices of the group, and every
// update is a contiguous multiply-add. The grid is filled by rows (each sample goes to the rows
// that are its own), so that threads never meet and a row is transformed while it is in the cache.
#pragma once

#include <algorithm>
#include <cstddef>

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/reconstruct/grid_kernels.hpp"

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

  static void times(const float* from, V re, V im, float* to) {
    for (std::size_t lane = 0; lane < kLanesOfGroup; lane += width) {
      const V a = V::load(from + lane), b = V::load(from + lane + kLanesOfGroup);
      fnma(b, im, a * re).store(to + lane);
      fma(b, re, a * im).store(to + lane + kLanesOfGroup);
    }
  }
  static void weigh(const float* spectrum, std::size_t padded, const float* coef, std::size_t radii,
                    float* samples) {
    float* const negative = samples + radii * kElementFloats;
    for (std::size_t j = 0; j < radii; ++j) {
      const V re(coef[2 * j]), im(coef[2 * j + 1]);
      times(spectrum + j * kElementFloats, re, im, samples + j * kElementFloats);
      times(spectrum + (padded - j) % padded * kElementFloats, re, -im,
            negative + j * kElementFloats);
    }
  }

  /// One sample to the rows of its own. Mirror: the sample of the opposite frequency, which falls
  /// on the opposite points with the same weights.
  template <int W, bool Mirror>
  static void add_point(const float* sample, const std::int32_t* corner, const float* weight,
                        const GridRows& rows, long turn) {
    constexpr long sign = Mirror ? -1 : 1;
    constexpr long step = sign * static_cast<long>(kElementFloats);
    const long column = static_cast<long>(rows.origin) + sign * corner[1];
    for (int k = 0; k < W; ++k) {
      const long row = sign * (corner[0] + k) - turn;
      if (row < rows.first || row >= rows.end || weight[k] == 0) continue;
      float* const at = rows.data + static_cast<std::size_t>(row - rows.first) * rows.stride +
                        static_cast<std::size_t>(column) * kElementFloats;
      const V w(weight[k]);
      for (std::size_t lane = 0; lane < kElementFloats; lane += width) {
        const V s = w * V::load(sample + lane);
        float* to = at + lane;
        FL_UNROLL
        for (int l = 0; l < W; ++l, to += step) {
          fma(V(weight[W + l]), s, V::load(to)).store(to);
        }
      }
    }
  }

  template <int W, bool Mirror>
  static void add_angle(const SpreadView& view, std::size_t angle, const GridRows& rows,
                        long turn) {
    constexpr double sign = Mirror ? -1 : 1;
    const double slope = sign * view.slope[angle];
    // radii whose rows can meet ours: slope j within the rows and a kernel's width
    const double low = static_cast<double>(rows.first + turn - W - 1);
    const double high = static_cast<double>(rows.end + turn + W + 1);
    double from = Mirror ? 1 : 0, to = static_cast<double>(view.radii) - 1;
    if (slope > 1e-9 || slope < -1e-9) {
      const double a = low / slope, b = high / slope;
      from = std::max(from, std::min(a, b));
      to = std::min(to, std::max(a, b));
    } else if (low > 0 || high < 0) {
      return;
    }
    if (from > to) return;
    const auto begin = static_cast<std::size_t>(from), end = static_cast<std::size_t>(to) + 1;
    const float* const samples =
        view.samples + (2 * angle + (Mirror ? 1 : 0)) * view.radii * kElementFloats;
    for (std::size_t j = std::max<std::size_t>(begin, Mirror ? 1 : 0); j < end; ++j) {
      const std::size_t i = angle * view.radii + j;
      add_point<W, Mirror>(samples + j * kElementFloats, view.corner + 2 * i,
                           view.weight + 2 * W * i, rows, turn);
    }
  }
  template <int W>
  static void spread_width(const SpreadView& view, const GridRows& rows, long turn) {
    for (std::size_t a = 0; a < view.angles; ++a) {
      add_angle<W, false>(view, a, rows, turn);
      add_angle<W, true>(view, a, rows, turn);
    }
  }
  static void spread(const SpreadView& view, const GridRows& rows, long turn) {
    switch (view.width) {
      case 4:
        return spread_width<4>(view, rows, turn);
      case 5:
        return spread_width<5>(view, rows, turn);
      case 6:
        return spread_width<6>(view, rows, turn);
      case 7:
        return spread_width<7>(view, rows, turn);
      default:
        return spread_width<8>(view, rows, turn);
    }
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
