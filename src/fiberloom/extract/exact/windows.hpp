// SPDX-License-Identifier: BSD-3-Clause
// The wavelength axis cut into kLanes windows with skirts: one window a lane. The cut depends on
// the grid alone.
#pragma once

#include <algorithm>

#include "fiberloom/extract/exact/geometry.hpp"
#include "fiberloom/extract/exact/recipe_lane.hpp"

namespace fiberloom::exact {

/// Window w has its core at bins origin + [w stride, (w + 1) stride) and reaches `skirt` bins
/// further at both ends; row r of lane w is bin origin + w stride - skirt + r. Rows outside [0,
/// nbin) are padding (identity); lanes beyond the last window repeat it, so that no lane ever holds
/// anything but a sound problem.
struct Windows {
  int nbin = 0, count = 1, stride = 0, skirt = 0, rows = 0, origin = 0;

  [[nodiscard]] int bin(int lane, int row) const {
    return origin + std::min(lane, count - 1) * stride - skirt + row;
  }
  [[nodiscard]] bool inside(int lane, int row) const {
    const int j = bin(lane, row);
    return j >= 0 && j < nbin;
  }
  /// The window whose core holds bin j.
  [[nodiscard]] int window_of(int j) const { return exact::window_of(j - origin, stride, count); }
  /// The core of all: bins that have a window.
  [[nodiscard]] BinRange core() const { return {origin, std::min(origin + count * stride, nbin)}; }
};

/// As many windows as are worth their skirts, at most kLanes; one without skirts when `skirt` is
/// large.
inline Windows cut_windows(int nbin, int skirt) {
  Windows w;
  w.nbin = nbin;
  w.count = std::clamp(nbin / (2 * std::max(skirt, 1)), 1, kLanes);
  w.stride = (nbin + w.count - 1) / w.count;
  w.skirt = w.count > 1 ? skirt : 0;
  w.rows = w.stride + 2 * w.skirt;
  return w;
}

/// A part of the axis, cut into all lanes, or so many.
inline Windows cut_part(int nbin, BinRange part, int skirt, int lanes = kLanes) {
  Windows w;
  w.nbin = nbin;
  w.origin = part.first;
  w.count = std::min(lanes, part.last - part.first);
  w.stride = (part.last - part.first + w.count - 1) / w.count;
  w.skirt = skirt;
  w.rows = w.stride + 2 * skirt;
  return w;
}

}  // namespace fiberloom::exact
