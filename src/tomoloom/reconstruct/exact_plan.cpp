// SPDX-License-Identifier: BSD-3-Clause
// The exact plan: a kernel of compact support whose transform is divided out.
#include <cmath>
#include <numbers>

#include "loom/fft/fft.hpp"
#include "tomoloom/reconstruct/angles.hpp"
#include "tomoloom/reconstruct/grid_plan.hpp"

namespace tomoloom {
namespace {

/// exp(beta (sqrt(1 - (2 x / width)^2) - 1)), 0 beyond the width (Barnett, Magland & af Klinteberg
/// 2019): as good as Kaiser-Bessel and cheaper.
class Kernel {
 public:
  Kernel(int width, double oversampling)
      : width_(width), beta_(0.98 * std::numbers::pi * width * (1 - 1 / (2 * oversampling))) {}
  [[nodiscard]] double operator()(double x) const {
    const double r = 1 - (2 * x / width_) * (2 * x / width_);
    return r <= 0 ? 0 : std::exp(beta_ * (std::sqrt(r) - 1));
  }
  /// Integral of the kernel times cos(2 pi x frequency).
  [[nodiscard]] double transform(double frequency) const {
    // x = width/2 sin(t) takes away the root at the ends: the midpoint rule then converges fast.
    constexpr int kNodes = 200;
    double sum = 0;
    for (int i = 0; i < kNodes; ++i) {
      const double t = std::numbers::pi / 2 * (i + 0.5) / kNodes;
      const double x = width_ / 2.0 * std::sin(t);
      sum += std::exp(beta_ * (std::cos(t) - 1)) * std::cos(2 * std::numbers::pi * x * frequency) *
             std::cos(t);
    }
    return width_ * sum * std::numbers::pi / 2 / kNodes;
  }

 private:
  int width_;
  double beta_;
};

/// Corner and weights of a point along one axis.
void place(double at, const Kernel& kernel, int width, std::int32_t* corner, float* w) {
  const double from = std::ceil(at - width / 2.0);
  *corner = static_cast<std::int32_t>(from);
  for (int k = 0; k < width; ++k) w[k] = static_cast<float>(kernel(from + k - at));
}

}  // namespace

GridPlan plan_exact(const Geometry& geometry, const FilterChoice& filter,
                    const ExactChoice& choice) {
  const std::size_t n = geometry.columns;
  // Twice the line: the ramp's kernel then never reaches around the end of it.
  const std::size_t padded = fft::good_length(2 * n);
  const std::size_t grid = fft::good_length(static_cast<std::size_t>(
      std::ceil(choice.oversampling * static_cast<double>(n)) + 2 * choice.width));
  GridPlan plan = sized_plan(geometry.theta.size(), n, padded, grid, choice.width);
  plan.first = n / 2;
  const Kernel kernel(choice.width, static_cast<double>(grid) / static_cast<double>(n));
  const std::vector<double> ramp = bandlimited_ramp(padded);
  const std::vector<double> share = angle_shares(geometry);
  const double step = static_cast<double>(grid) / static_cast<double>(padded);
  const double half_pixel = n % 2 == 0 ? 0.5 : 0;  // of the slice's middle beside the origin
  const auto p = static_cast<double>(padded);
  for (std::size_t a = 0; a < plan.angles; ++a) {
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
      const double size =
          (filter.filter == Filter::kNone ? 1 : ramp[j]) * filter_window(filter, x) * share[a] / p;
      const double phase = -2 * std::numbers::pi * centre * x;
      plan.coef[2 * i] = static_cast<float>(size * std::cos(phase));
      plan.coef[2 * i + 1] = static_cast<float>(size * std::sin(phase));
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    const long at = static_cast<long>(k) - static_cast<long>(plan.first);
    const double scale = 1 / kernel.transform(static_cast<double>(at) / static_cast<double>(grid));
    plan.scale_u[k] = plan.scale_v[k] = static_cast<float>(at % 2 == 0 ? scale : -scale);
  }
  return plan;
}

}  // namespace tomoloom
