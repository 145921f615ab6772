// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/project.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tomoloom/reconstruct/ray_groups.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"
#include "tomoloom/reconstruct/ray_pair.hpp"

namespace tomoloom {
namespace {

/// Each row of a group of slices is put side by side once for so many angles.
constexpr std::size_t kAnglesPerTask = 16;
constexpr std::size_t kSlicesAbreast = kRaySlices<float>;

/// Row `row` of up to kSlicesAbreast slices as elements.
void gather_row(const SlicesView& slices, std::size_t first, std::size_t row, float* elements) {
  const std::size_t n = slices.size;
  rays::gather_line({.data = slices.data + (first * n + row) * n,
                     .slices = std::min(kSlicesAbreast, slices.count - first),
                     .slice_stride = n * n},
                    n, elements);
  std::replace_if(
      elements, elements + n * kSlicesAbreast, [](float value) { return !std::isfinite(value); },
      0.0F);
}

/// Angles [begin, end) of the slices from `first` on.
void project_some(const Geometry& geometry, const SlicesView& slices, const LinesView& lines,
                  std::size_t first, std::size_t begin, std::size_t end,
                  const RayKernels<float>& kernels) {
  const std::size_t n = slices.size, columns = geometry.columns, line = columns * kSlicesAbreast;
  std::vector<float> row(n * kSlicesAbreast), seen((end - begin) * line), weight(kShadowBins * n);
  std::vector<std::int32_t> bin(n);
  const ShadowTable<float> table{
      .pixels = n, .columns = columns, .bin = bin.data(), .weight = weight.data()};
  for (std::size_t r = 0; r < n; ++r) {
    gather_row(slices, first, r, row.data());
    for (std::size_t a = begin; a < end; ++a) {
      const double theta = geometry.theta[a];
      const RowShadow shadow = row_shadow(n, geometry.centre, std::cos(theta), std::sin(theta), r);
      kernels.cast(shadow, n, bin.data(), weight.data());
      kernels.spread(table, row.data(), seen.data() + (a - begin) * line);
    }
  }
  const std::size_t count = std::min(kSlicesAbreast, slices.count - first);
  for (std::size_t a = begin; a < end; ++a) {
    for (std::size_t s = 0; s < count; ++s) {
      const float* const from = seen.data() + (a - begin) * line + s;
      float* const to = lines.data + a * lines.angle_stride + (first + s) * lines.slice_stride;
      for (std::size_t x = 0; x < columns; ++x) to[x] = from[x * kSlicesAbreast];
    }
  }
}

}  // namespace

void project_slices(const Geometry& geometry, const SlicesView& slices, const LinesView& lines,
                    Executor& executor, const std::function<void()>& before, Isa isa) {
  const RayKernels<float>& kernels = ray_kernels<float>(isa);
  const std::size_t angles = geometry.theta.size();
  const std::size_t tasks = (angles + kAnglesPerTask - 1) / kAnglesPerTask;
  const std::size_t at_once = 2 * executor.concurrency();
  for (std::size_t first = 0; first < slices.count; first += kSlicesAbreast) {
    for (std::size_t task = 0; task < tasks; task += at_once) {
      if (before) before();
      executor.run(std::min(at_once, tasks - task), [&](std::size_t i) {
        const std::size_t begin = (task + i) * kAnglesPerTask;
        const std::size_t end = std::min(angles, begin + kAnglesPerTask);
        project_some(geometry, slices, lines, first, begin, end, kernels);
      });
    }
  }
}

}  // namespace tomoloom
