// SPDX-License-Identifier: BSD-3-Clause
// The exact plan: a kernel of compact support whose transform is divided out.
#include <cmath>
#include <numbers>

#include "loom/fft/fft.hpp"
#include "tomoloom/reconstruct/angles.hpp"
#include "tomoloom/reconstruct/grid_plan.hpp"
#include "tomoloom/reconstruct/spread_kernel.hpp"

namespace tomoloom {
namespace {

/// Corner and weights of a point along one axis.
void place(double at, const SpreadKernel& kernel, int width, std::int32_t* corner, float* w) {
  const double from = std::ceil(at - width / 2.0);
  *corner = static_cast<std::int32_t>(from);
  for (int k = 0; k < width; ++k) w[k] = static_cast<float>(kernel(from + k - at));
}

}  // namespace

GridPlan plan_radial(const Geometry& geometry, const ExactChoice& choice,
                     const std::function<double(std::size_t, std::size_t)>& size,
                     Executor& executor) {
  const std::size_t n = geometry.columns;
  const std::size_t padded = padded_line(n);
  const std::size_t grid = fft::good_length(static_cast<std::size_t>(
      std::ceil(choice.oversampling * static_cast<double>(n)) + 2 * choice.width));
  GridPlan plan = sized_plan(geometry.theta.size(), n, padded, grid, choice.width);
  plan.first = n / 2;
  const SpreadKernel kernel(choice.width, static_cast<double>(grid) / static_cast<double>(n));
  const double step = static_cast<double>(grid) / static_cast<double>(padded);
  const double half_pixel = n % 2 == 0 ? 0.5 : 0;  // of the slice's middle beside the origin
  const auto p = static_cast<double>(padded);
  executor.run(plan.angles, [&](std::size_t a) {
    const double c = std::cos(geometry.theta[a]), s = std::sin(geometry.theta[a]);
    plan.slope[a] = step * c;
    const double centre = geometry.centre + half_pixel * (c + s);
    for (std::size_t j = 0; j < plan.radii; ++j) {
      const std::size_t i = plan.point(a, j);
      float* const w = &plan.weight[i * 2 * static_cast<std::size_t>(plan.width)];
      const auto r = static_cast<double>(j) * step;
      place(r * c, kernel, plan.width, &plan.corner[2 * i], w);
      place(r * s, kernel, plan.width, &plan.corner[2 * i + 1], w + plan.width);
      const double x = static_cast<double>(j) / p;
      const double times = size(a, j) / p;
      const double phase = -2 * std::numbers::pi * centre * x;
      plan.coef[2 * i] = static_cast<float>(times * std::cos(phase));
      plan.coef[2 * i + 1] = static_cast<float>(times * std::sin(phase));
    }
  });
  for (std::size_t k = 0; k < n; ++k) {
    const long at = static_cast<long>(k) - static_cast<long>(plan.first);
    const double scale = 1 / kernel.transform(static_cast<double>(at) / static_cast<double>(grid));
    plan.scale_u[k] = plan.scale_v[k] = static_cast<float>(at % 2 == 0 ? scale : -scale);
  }
  return plan;
}

/// Twice the line: the ramp's kernel then never reaches around the end of it.
std::size_t padded_line(std::size_t columns) { return fft::good_length(2 * columns); }

GridPlan plan_exact(const Geometry& geometry, const FilterChoice& filter, const ExactChoice& choice,
                    Executor& executor) {
  const FilterResponse size(filter, bandlimited_ramp(padded_line(geometry.columns)),
                            geometry.theta.size());
  const std::vector<double> share = angle_shares(geometry);
  return plan_radial(
      geometry, choice, [&](std::size_t a, std::size_t j) { return size.at(a, j) * share[a]; },
      executor);
}

}  // namespace tomoloom
