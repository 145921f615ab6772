// SPDX-License-Identifier: BSD-3-Clause
// What gridding does with a frequency, whoever asks: all lanes of a group on a CPU, one of them in
// a thread of a card.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/reconstruct/grid_kernels.hpp"

namespace tomoloom::lane {

/// Numbers [first, end) of an element.
struct AllLanes {
  static constexpr std::size_t first = 0, end = kElementFloats;
};
struct OneLane {
  std::size_t first = 0, end = 0;
};

template <class V>
FL_LANE_HD void turn_point(const float* from, V re, V im, float* to) {
  const V a = V::load(from), b = V::load(from + kLanesOfGroup);
  fnma(b, im, a * re).store(to);
  fma(b, re, a * im).store(to + kLanesOfGroup);
}

/// Frequency j of a projection's transform times coef -> its samples of both signs, lanes from
/// `lane` on.
template <class V>
FL_LANE_HD void weigh_point(const float* spectrum, std::size_t padded, const float* coef,
                            std::size_t radii, float* samples, std::size_t j, std::size_t lane) {
  const V re(coef[2 * j]), im(coef[2 * j + 1]);
  turn_point(spectrum + j * kElementFloats + lane, re, im, samples + j * kElementFloats + lane);
  turn_point(spectrum + (padded - j) % padded * kElementFloats + lane, re, -im,
             samples + (radii + j) * kElementFloats + lane);
}

/// One sample to the rows of its own, in each to the first `Columns` of the W points. Mirror: the
/// sample of the opposite frequency, which falls on the opposite points with the same weights.
template <class V, int W, int Columns, bool Mirror, class Lanes>
FL_LANE_HD void add_columns(const float* sample, const std::int32_t* corner, const float* weight,
                            const GridRows& rows, long turn, const Lanes& lanes) {
  constexpr long sign = Mirror ? -1 : 1;
  constexpr long step = sign * static_cast<long>(kElementFloats);
  const long column = static_cast<long>(rows.origin) + sign * corner[1];
  for (int k = 0; k < W; ++k) {
    const long row = sign * (corner[0] + k) - turn;
    if (row < rows.first || row >= rows.end || weight[k] == 0) continue;
    float* const at = rows.data + static_cast<std::size_t>(row - rows.first) * rows.stride +
                      static_cast<std::size_t>(column) * kElementFloats;
    const V w(weight[k]);
    for (std::size_t lane = lanes.first; lane < lanes.end; lane += V::width) {
      const V s = w * V::load(sample + lane);
      float* to = at + lane;
      FL_UNROLL
      for (int l = 0; l < Columns; ++l, to += step) {
        fma(V(weight[W + l]), s, V::load(to)).store(to);
      }
    }
  }
}

/// A kernel that is cut off at whole distances has its last point for frequencies on a grid line
/// alone: gridrec's is a fifth less work without it.
template <class V, int W, bool Mirror, class Lanes>
FL_LANE_HD void add_point(const float* sample, const std::int32_t* corner, const float* weight,
                          const GridRows& rows, long turn, const Lanes& lanes) {
  if (weight[2 * W - 1] == 0) {
    add_columns<V, W, W - 1, Mirror>(sample, corner, weight, rows, turn, lanes);
  } else {
    add_columns<V, W, W, Mirror>(sample, corner, weight, rows, turn, lanes);
  }
}

/// Frequencies [first, end) of an angle.
struct Radii {
  std::size_t first = 0, end = 0;
};

/// Those whose rows can meet rows [first, end): `slope` j, with the sign of Mirror, within them and
/// a kernel's width.
FL_LANE_HD static inline Radii radii_on_rows(double slope, long first, long end, long width,
                                             std::size_t radii, bool mirror) {
  const double low = static_cast<double>(first - width - 1);
  const double high = static_cast<double>(end + width + 1);
  double from = mirror ? 1 : 0, to = static_cast<double>(radii) - 1;
  if (slope > 1e-9 || slope < -1e-9) {
    const double a = low / slope, b = high / slope;
    const double least = a < b ? a : b, most = a < b ? b : a;
    from = from < least ? least : from;
    to = most < to ? most : to;
  } else if (low > 0 || high < 0) {
    return {};
  }
  if (from > to) return {};
  const auto j = static_cast<std::size_t>(from);
  return {mirror && j < 1 ? 1 : j, static_cast<std::size_t>(to) + 1};
}

/// What falls on these rows of an angle.
template <class V, int W, bool Mirror, class Lanes>
FL_LANE_HD void add_angle(const SpreadView& view, std::size_t angle, const GridRows& rows,
                          long turn, const Lanes& lanes) {
  constexpr double sign = Mirror ? -1 : 1;
  const Radii radii = radii_on_rows(sign * view.slope[angle], rows.first + turn, rows.end + turn, W,
                                    view.radii, Mirror);
  const float* const samples =
      view.samples + (2 * angle + (Mirror ? 1 : 0)) * view.radii * kElementFloats;
  for (std::size_t j = radii.first; j < radii.end; ++j) {
    const std::size_t i = angle * view.radii + j;
    add_point<V, W, Mirror>(samples + j * kElementFloats, view.corner + 2 * i,
                            view.weight + 2 * W * i, rows, turn, lanes);
  }
}

/// Calls use<W>() with the kernel's width as a constant.
template <class Use>
FL_LANE_HD void with_width(int width, const Use& use) {
  switch (width) {
    case 4:
      return use.template operator()<4>();
    case 5:
      return use.template operator()<5>();
    case 6:
      return use.template operator()<6>();
    case 7:
      return use.template operator()<7>();
    default:
      return use.template operator()<8>();
  }
}

}  // namespace tomoloom::lane
