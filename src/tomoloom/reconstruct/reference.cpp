// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/reference.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>

#include "loom/fft/fft.hpp"
#include "tomoloom/reconstruct/angles.hpp"

namespace tomoloom {
namespace {

using Number = std::complex<double>;
constexpr double kTurn = 2 * std::numbers::pi;

/// sum over x of data[x] exp(i 2 pi j x / padded)
Number frequency(std::span<const float> line, long j, std::size_t padded) {
  Number sum = 0;
  for (std::size_t x = 0; x < line.size(); ++x) {
    const double angle = kTurn * static_cast<double>(j) * static_cast<double>(x);
    sum += static_cast<double>(line[x]) * std::polar(1.0, angle / static_cast<double>(padded));
  }
  return sum;
}

}  // namespace

std::vector<double> back_project_exactly(const Geometry& geometry, const FilterChoice& filter,
                                         std::span<const float> sinogram) {
  const std::size_t n = geometry.columns, padded = fft::good_length(2 * n);
  const std::vector<double> ramp = bandlimited_ramp(padded);
  const std::vector<double> share = angle_weights(geometry.theta);
  const double middle = (static_cast<double>(n) - 1) / 2;
  std::vector<double> slice(n * n, 0);
  for (std::size_t a = 0; a < geometry.theta.size(); ++a) {
    std::vector<Number> filtered(padded / 2);
    for (std::size_t j = 0; j < padded / 2; ++j) {
      const double x = static_cast<double>(j) / static_cast<double>(padded);
      filtered[j] = frequency(sinogram.subspan(a * n, n), static_cast<long>(j), padded) *
                    (filter.filter == Filter::kNone ? 1 : ramp[j]) * filter_window(filter, x) *
                    share[a] / static_cast<double>(padded);
    }
    const double c = std::cos(geometry.theta[a]), s = std::sin(geometry.theta[a]);
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = 0; column < n; ++column) {
        const double u = static_cast<double>(column) - middle;
        const double v = middle - static_cast<double>(row);
        const double at = geometry.centre + u * c + v * s;
        double sum = filtered[0].real();
        for (std::size_t j = 1; j < padded / 2; ++j) {
          const double angle = -kTurn * static_cast<double>(j) * at / static_cast<double>(padded);
          sum += 2 * (filtered[j] * std::polar(1.0, angle)).real();
        }
        slice[row * n + column] += sum;
      }
    }
  }
  return slice;
}

std::vector<double> grid_plainly(const GridPlan& plan, std::span<const float> sinogram) {
  const auto size = static_cast<long>(plan.grid), half = size / 2;
  std::vector<Number> grid(plan.grid * plan.grid, 0);
  const auto add = [&](long p, long q, Number value) {
    if (p < -half || p >= half || q < -half || q >= half) {
      if (!plan.periodic) return;
      p = (p + half + size) % size - half;
      q = (q + half + size) % size - half;
    }
    grid[static_cast<std::size_t>((p + half) * size + q + half)] += value;
  };
  const auto width = static_cast<std::size_t>(plan.width);
  for (std::size_t a = 0; a < plan.angles; ++a) {
    const auto line = sinogram.subspan(a * plan.columns, plan.columns);
    for (std::size_t j = 0; j < plan.radii; ++j) {
      const std::size_t i = plan.point(a, j);
      const Number coef(plan.coef[2 * i], plan.coef[2 * i + 1]);
      const Number above = coef * frequency(line, static_cast<long>(j), plan.padded);
      const Number below = std::conj(coef) * frequency(line, -static_cast<long>(j), plan.padded);
      const float* const w = &plan.weight[2 * width * i];
      for (std::size_t k = 0; k < width * width; ++k) {
        const long p = plan.corner[2 * i] + static_cast<long>(k / width);
        const long q = plan.corner[2 * i + 1] + static_cast<long>(k % width);
        const double both =
            static_cast<double>(w[k / width]) * static_cast<double>(w[width + k % width]);
        if (both == 0) continue;
        add(p, q, both * above);
        if (j > 0) add(-p, -q, both * below);
      }
    }
  }
  // Rows, then columns. The scales' signs belong to a grid that begins at its first line.
  const std::size_t n = plan.image;
  const auto turn = [&](long p, std::size_t k) {
    const long u = static_cast<long>(k) - static_cast<long>(plan.first);
    const double sign = (u % 2 == 0) ? 1 : -1;
    return sign * std::polar(1.0, -kTurn * static_cast<double>(p * u) / static_cast<double>(size));
  };
  std::vector<Number> half_done(plan.grid * n, 0);
  for (long p = 0; p < size; ++p) {
    for (std::size_t k = 0; k < n; ++k) {
      for (long q = 0; q < size; ++q) {
        half_done[static_cast<std::size_t>(p) * n + k] +=
            grid[static_cast<std::size_t>(p * size + q)] * turn(q - half, k);
      }
    }
  }
  std::vector<double> slice(n * n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      Number sum = 0;
      for (long p = 0; p < size; ++p) {
        sum += half_done[static_cast<std::size_t>(p) * n + k] * turn(p - half, j);
      }
      slice[(n - 1 - k) * n + j] =
          sum.real() * static_cast<double>(plan.scale_u[j]) * static_cast<double>(plan.scale_v[k]);
    }
  }
  return slice;
}

}  // namespace tomoloom
