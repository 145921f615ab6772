// SPDX-License-Identifier: BSD-3-Clause
// What the weights of a model begin with.
#include <algorithm>

#include "fiberloom/extract/exact/refine.hpp"

namespace fiberloom::exact {

std::vector<PixelJudge::Columns> PixelJudge::touched_columns(const SpotPlan& plan) const {
  const int width = static_cast<int>(ccd_.light.cols());
  const int last_row = std::min(static_cast<int>(ccd_.light.rows()), strip_.y0 + strip_.rows);
  std::vector<Columns> touched(static_cast<std::size_t>(strip_.rows), {width, 0});
  for (const FiberTrace& trace : geometry_.trace) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(geometry_.nbin); ++j) {
      if (!trace.live[j]) continue;
      const int first = std::max(trace.x0[j], 0), end = std::min(trace.x0[j] + plan.nx, width);
      for (int y = std::max({trace.y0[j], strip_.y0, 0});
           y < std::min(trace.y0[j] + plan.ny, last_row); ++y) {
        Columns& row = touched[static_cast<std::size_t>(y - strip_.y0)];
        row = {std::min(row.first, first), std::max(row.end, end)};
      }
    }
  }
  return touched;
}

void PixelJudge::set_model_to_light(const SpotPlan& plan) {
  const std::vector<Columns> touched = touched_columns(plan);
  for (std::size_t r = 0; r < touched.size(); ++r) {
    const auto [first, end] = touched[r];
    if (first >= end) continue;
    std::copy_n(ccd_.light.row(r + static_cast<std::size_t>(strip_.y0)) + first, end - first,
                work_.model.row(r) + first - strip_.x0);
  }
}

void PixelJudge::set_model_to_pixels() {
  const auto pitch = static_cast<std::size_t>(strip_.pitch);
  float* model = work_.model.data();
  for (long i = 0; i < strip_.rows * strip_.pitch; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!is(i, PixelState::kUnused)) {
      model[at] = static_cast<float>(strip_.pixel[at]);
    } else if (at >= pitch) {
      model[at] = model[at - pitch];
    }
  }
}

void PixelJudge::weigh_first(const SpotPlan& plan) {
  weighed_by_model_ = !ccd_.light.empty();
  weighed_by_model_ ? set_model_to_light(plan) : set_model_to_pixels();
  weigh_rows(0, strip_.rows, [&](long row, const float*) {
    for (long i = row * strip_.pitch; i < (row + 1) * strip_.pitch; ++i) {
      if (!is(i, PixelState::kUnused)) strip_.weight[static_cast<std::size_t>(i)] = weight_of(i);
    }
  });
  std::fill_n(work_.model.data(), work_.model.size(), 0.0F);
}

}  // namespace fiberloom::exact
