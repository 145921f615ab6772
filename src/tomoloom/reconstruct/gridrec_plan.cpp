// SPDX-License-Identifier: BSD-3-Clause
// The peer's gridrec as numbers. Single precision wherever a rounding decides which entry of its
// table is taken.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tomoloom/reconstruct/grid_plan.hpp"

namespace tomoloom {
namespace {

constexpr int kTable = 512;    ///< steps of the table over half the kernel
constexpr int kReach = 2;      ///< grid points to either side, both ends included
constexpr float kSteps = 256;  ///< of the table, a grid point
constexpr double kBand = 7.0, kEigenvalue = 0.99998546, kFudge = 1.2;
// Prolate spheroidal wave function of order 0, time-bandwidth 7, in even Legendre polynomials.
constexpr std::array<float, 11> kProlate{0.5767616E+02F,  -0.8931343E+02F, 0.4167596E+02F,
                                         -0.1053599E+02F, 0.1662374E+01F,  -0.1780527E-00F,
                                         0.1372983E-01F,  -0.7963169E-03F, 0.3593372E-04F,
                                         -0.1295941E-05F, 0.3817796E-07F};

float even_legendre(float x) {
  float before = 1, last = x, sum = kProlate[0];
  for (int n = 2; n <= 20; ++n) {
    const float t = x * last;
    const float next = 2 * t - before + (before - t) / static_cast<float>(n);
    if (n % 2 == 0) sum += next * kProlate[static_cast<std::size_t>(n / 2)];
    before = last;
    last = next;
  }
  return sum;
}

std::vector<float> prolate_table() {
  std::vector<float> table(kTable + 1, 1);
  const float middle = even_legendre(0);
  for (int i = 1; i <= kTable; ++i) {
    table[static_cast<std::size_t>(i)] =
        even_legendre(static_cast<float>(i) / static_cast<float>(kTable)) / middle;
  }
  return table;
}

/// std::round() of what is not negative, without a call: halves go up.
std::size_t nearest(float x) {
  const auto below = static_cast<std::size_t>(x);
  return below + (x - static_cast<float>(below) >= 0.5F ? 1 : 0);
}

/// Corner and weights along one axis for a point at `at` (0 is the grid's first line, whose content
/// the peer leaves out).
void place(float at, int grid, const std::vector<float>& table, std::int32_t* corner, float* w) {
  const int from = static_cast<int>(std::ceil(at - kReach));
  const int to = std::min(static_cast<int>(std::floor(at + kReach)), grid - 1);
  *corner = from - grid / 2;
  for (int k = 0; k < 2 * kReach + 1; ++k) {
    const int i = from + k;
    const float distance = std::fabs(at - static_cast<float>(i));
    w[k] = i < 1 || i > to ? 0 : table[nearest(distance * kSteps)];
  }
}

/// What a frequency is multiplied by, but for the angle's share, and how it is turned.
struct Radial {
  std::vector<double> ramp;
  std::vector<float> cosine, sine;
};

Radial radial_part(std::size_t radii, double centre, double n) {
  const auto turn = static_cast<float>(2 * std::numbers::pi *
                                       static_cast<double>(static_cast<float>(centre)) / n);
  Radial part{std::vector<double>(radii), std::vector<float>(radii), std::vector<float>(radii)};
  for (std::size_t j = 1; j < radii; ++j) {
    part.ramp[j] = 2 * (static_cast<double>(j) / n);
    const float phase = static_cast<float>(j) * turn;  // its rounding is the peer's
    part.cosine[j] = std::cos(phase);
    part.sine[j] = std::sin(phase);
  }
  return part;
}

}  // namespace

GridPlan plan_gridrec(const Geometry& geometry, const FilterChoice& filter, Executor& executor) {
  std::size_t grid = 16;
  while (grid < geometry.columns) grid *= 2;
  GridPlan plan = sized_plan(geometry.theta.size(), geometry.columns, grid, grid, 2 * kReach + 1);
  plan.periodic = false;
  const std::size_t pad = (grid - geometry.columns) / 2, half = grid / 2;
  plan.first = half - pad;
  const std::vector<float> table = prolate_table();
  const auto n = static_cast<double>(grid);
  const Radial radial = radial_part(plan.radii, geometry.centre, n);
  const FilterResponse response(filter, radial.ramp, plan.angles);
  double weights = 0;
  for (const double w : geometry.weight) weights += w;
  executor.run(plan.angles, [&](std::size_t a) {
    const double share = geometry.weight.empty() ? 1 / static_cast<double>(plan.angles)
                                                 : geometry.weight[a] / weights;
    const auto theta = static_cast<float>(geometry.theta[a]);
    const float c = std::cos(theta), s = std::sin(theta);
    plan.slope[a] = c;
    for (std::size_t j = 1; j < plan.radii; ++j) {
      const std::size_t i = plan.point(a, j);
      float* const w = &plan.weight[i * 2 * static_cast<std::size_t>(plan.width)];
      const auto r = static_cast<float>(j), origin = static_cast<float>(half);
      place(r * c + origin, static_cast<int>(grid), table, &plan.corner[2 * i], w);
      place(r * s + origin, static_cast<int>(grid), table, &plan.corner[2 * i + 1], w + plan.width);
      const double size = response.at(a, j) * std::numbers::pi / n * share;
      plan.coef[2 * i] = static_cast<float>(size * static_cast<double>(radial.cosine[j]));
      plan.coef[2 * i + 1] = static_cast<float>(size * static_cast<double>(-radial.sine[j]));
    }
  });
  // The peer's correction begins a point late; signs undo that the grid's origin is in its middle.
  const float steps = static_cast<float>(kTable) / (static_cast<float>(half - 1) + 0.5F);
  const double norm = std::sqrt(std::numbers::pi / 2 / kBand / kEigenvalue) / kFudge;
  for (std::size_t k = 0; k < plan.image; ++k) {
    const long i = static_cast<long>(k + pad) - static_cast<long>(half - 1);
    const float at = std::min<float>(static_cast<float>(std::labs(i)) * steps, kTable);
    const auto entry = static_cast<std::size_t>(std::round(at));
    plan.scale_u[k] = plan.scale_v[k] =
        static_cast<float>((i % 2 == 0 ? norm : -norm) / static_cast<double>(table[entry]));
  }
  return plan;
}

}  // namespace tomoloom
