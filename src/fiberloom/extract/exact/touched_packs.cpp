// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/exact/touched_packs.hpp"

#include <algorithm>

namespace fiberloom::exact {

namespace {

struct Box {
  int row, row_end, column, column_end;  // on the CCD
};

Box box_of(const FiberTrace& trace, int j, const SpotPlan& plan) {
  const auto first = static_cast<std::size_t>(j), last = first + kLanes;
  Box box{trace.y0[first], trace.y0[first], trace.x0[first], trace.x0[first]};
  for (std::size_t i = first; i < last; ++i) {
    box.row = std::min(box.row, trace.y0[i]);
    box.row_end = std::max(box.row_end, trace.y0[i]);
    box.column = std::min(box.column, trace.x0[i]);
    box.column_end = std::max(box.column_end, trace.x0[i]);
  }
  box.row_end += plan.ny;
  box.column_end += plan.nx;
  return box;
}

}  // namespace

TouchedPacks::TouchedPacks(const SpotPlan& plan, const BundleGeometry& g, long pitch,
                           std::span<const long> pixels)
    : packs_(static_cast<std::size_t>(g.nbin_padded / kLanes)),
      touched_(static_cast<std::size_t>(g.nfiber) * packs_, 0) {
  for (int f = 0; f < g.nfiber; ++f) {
    for (int j = 0; j < g.nbin_padded; j += kLanes) {
      const Box box = box_of(g.trace[static_cast<std::size_t>(f)], j, plan);
      const auto at_row = [&](long row) {
        return std::lower_bound(pixels.begin(), pixels.end(), (row - g.y0) * pitch);
      };
      const bool hit = std::any_of(at_row(box.row), at_row(box.row_end), [&](long at) {
        const long column = at % pitch + g.x0;
        return column >= box.column && column < box.column_end;
      });
      touched_[static_cast<std::size_t>(f) * packs_ + static_cast<std::size_t>(j / kLanes)] = hit;
    }
  }
}

double TouchedPacks::share() const {
  return static_cast<double>(std::count(touched_.begin(), touched_.end(), 1)) /
         static_cast<double>(touched_.size());
}

}  // namespace fiberloom::exact
