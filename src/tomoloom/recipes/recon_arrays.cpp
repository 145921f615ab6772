// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "tomoloom/prepare/normalize.hpp"
#include "tomoloom/recipes/slice_plan.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

void check(std::size_t rows, std::size_t columns, std::span<const double> theta,
           std::span<const double> centres) {
  if (theta.empty() || columns == 0) {
    throw Error(kScanMismatch, "theta: expected one angle for every projection");
  }
  for (const double angle : theta) {
    if (!std::isfinite(angle)) throw Error(kScanMismatch, "theta: an angle is not a number");
  }
  if (centres.size() != 1 && centres.size() != rows) {
    throw Error(kScanMismatch, print("center: found %zu, expected one, or one for each of %zu rows",
                                     centres.size(), rows));
  }
  const double last = static_cast<double>(columns) - 1;
  for (const double centre : centres) {
    if (centre >= 0 && centre <= last) continue;
    throw Error(kCentreRange, print("center: %g: expected a column from 0 to %g", centre, last));
  }
}

/// Rows mix where the axis is tilted: all of them have one column.
void check_tilt(const ReconJob& how, std::span<const double> centres) {
  if (how.tilt_deg == 0) return;
  for (const double centre : centres) {
    if (centre == centres[0]) continue;
    throw Error(
        Status::kUnsupported,
        print("center: %g and %g: expected one for all rows with a tilt", centres[0], centre));
  }
}

/// Each projection is in one block.
void check_order(std::span<const std::size_t> order, std::size_t angles) {
  if (order.empty()) return;
  std::vector<bool> there(angles, false);
  for (const std::size_t a : order) {
    if (a < angles) there[a] = true;
  }
  const auto once = static_cast<std::size_t>(std::count(there.begin(), there.end(), true));
  if (order.size() == angles && once == angles) return;
  throw Error(kScanMismatch, print("block_order: %zu numbers, of %zu projections: expected each of "
                                   "%zu once",
                                   order.size(), once, angles));
}

std::size_t rows_read(const ReconJob& how, std::size_t rows, std::size_t columns) {
  const Geometry tilted{
      .columns = columns, .theta = {}, .tilt = how.tilt_deg * std::numbers::pi / 180};
  return std::min(rows, kSlicesPerGroup + 2 * rows_beside(tilted));
}

}  // namespace

Backend reconstruct_arrays(const ReconJob& how, const StackView& integrals, std::size_t columns,
                           std::span<const double> theta, std::span<const double> centres,
                           std::span<float> slices, Executor& executor,
                           const std::function<void()>& before) {
  check(integrals.slices, columns, theta, centres);
  check_tilt(how, centres);
  check_order(how.block_order, theta.size());
  const std::size_t slice = columns * columns;
  std::vector<float> group(theta.size() * rows_read(how, integrals.slices, columns) * columns);
  Backend made_on = Backend::kCpu;
  for (std::size_t row = 0; row < integrals.slices;) {
    const auto centre = [&](std::size_t r) { return centres[centres.size() == 1 ? 0 : r]; };
    std::size_t end = row + 1;
    while (end < integrals.slices && centre(end) == centre(row)) ++end;
    const SlicePlan plan = plan_slices(
        how, {.columns = columns, .theta = {theta.begin(), theta.end()}, .centre = centre(row)},
        executor);
    SliceEngine engine(plan, how.backend);
    made_on = engine.made_on();
    for (; row < end; row += kSlicesPerGroup) {
      if (before) before();
      const std::size_t count = std::min(kSlicesPerGroup, end - row);
      const std::size_t above = std::min(row, plan.beside());
      const std::size_t below = std::min(integrals.slices - row - count, plan.beside());
      const std::size_t rows = above + count + below;
      executor.run(theta.size(), [&](std::size_t a) {
        for (std::size_t r = 0; r < rows; ++r) {
          copy_finite({integrals.data + a * integrals.angle_stride +
                           (row - above + r) * integrals.slice_stride,
                       columns},
                      {group.data() + (a * rows + r) * columns, columns});
        }
      });
      engine.reconstruct(
          {.data = group.data() + above * columns,
           .slices = count,
           .angle_stride = rows * columns,
           .slice_stride = columns,
           .before = above,
           .after = below},
          {.data = slices.data() + row * slice, .slice_stride = slice, .row_stride = columns},
          executor, [&](std::size_t) {
            if (before) before();
          });
    }
    row = end;
  }
  return made_on;
}

}  // namespace tomoloom
