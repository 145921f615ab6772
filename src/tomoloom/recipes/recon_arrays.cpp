// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_arrays.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace

void reconstruct_arrays(const ReconJob& how, const StackView& integrals, std::size_t columns,
                        std::span<const double> theta, std::span<const double> centres,
                        std::span<float> slices, Executor& executor,
                        const std::function<void()>& before) {
  check(integrals.slices, columns, theta, centres);
  const std::size_t slice = columns * columns;
  std::vector<float> group(theta.size() * std::min(integrals.slices, kSlicesPerGroup) * columns);
  for (std::size_t row = 0; row < integrals.slices;) {
    const auto centre = [&](std::size_t r) { return centres[centres.size() == 1 ? 0 : r]; };
    std::size_t end = row + 1;
    while (end < integrals.slices && centre(end) == centre(row)) ++end;
    const SlicePlan plan = plan_slices(
        how, {.columns = columns, .theta = {theta.begin(), theta.end()}, .centre = centre(row)});
    SliceEngine engine(plan);
    for (; row < end; row += kSlicesPerGroup) {
      if (before) before();
      const std::size_t count = std::min(kSlicesPerGroup, end - row);
      executor.run(theta.size(), [&](std::size_t a) {
        for (std::size_t s = 0; s < count; ++s) {
          copy_finite(
              {integrals.data + a * integrals.angle_stride + (row + s) * integrals.slice_stride,
               columns},
              {group.data() + (a * count + s) * columns, columns});
        }
      });
      engine.reconstruct(
          {.data = group.data(),
           .slices = count,
           .angle_stride = count * columns,
           .slice_stride = columns},
          {.data = slices.data() + row * slice, .slice_stride = slice, .row_stride = columns},
          executor, [&](std::size_t) {
            if (before) before();
          });
    }
    row = end;
  }
}

}  // namespace tomoloom
