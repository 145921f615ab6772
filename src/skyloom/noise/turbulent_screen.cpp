// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/turbulent_screen.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/base/work_pool.hpp"
#include "loom/fft/fft.hpp"
#include "skyloom/noise/spectrum_lags.hpp"

namespace skyloom {
namespace {

using Real = float;
constexpr std::size_t kBatch = fft::kBatch<Real>, kElement = fft::kElement<Real>;
constexpr double kOrder = 5.0 / 6;
constexpr std::size_t kCurveKnots = 4096;  // of 1 - C, linear between them in logarithms: 3e-6

/// A complex number for each node.
struct Field {
  std::vector<Real> re, im;
};

/// What a thread transforms lines in.
struct LineWork {
  std::vector<Real> in, work;
};

/// Transforms lines of `n` nodes, `step` apart, whose first nodes are `apart`.
void transform_lines(Field& field, std::size_t n, std::size_t step, std::size_t lines,
                     std::size_t apart, Executor& executor) {
  const fft::Plan<Real> plan(n, fft::Sign::kMinus);
  WorkPool<LineWork> works;
  executor.run((lines + kBatch - 1) / kBatch, [&](std::size_t batch) {
    const std::size_t first = batch * kBatch, count = std::min(kBatch, lines - first);
    auto own = works.borrow();
    std::vector<Real>&in = own->in, &work = own->work;
    in.resize(n * kElement);  // lanes without a line have what was there: nobody looks at them
    work.resize(plan.work_size());
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = 0; l < count; ++l) {
        const std::size_t at = (first + l) * apart + j * step;
        in[j * kElement + l] = field.re[at];
        in[j * kElement + kBatch + l] = field.im[at];
      }
    }
    const Real* const out = plan.run(in.data(), 1, n, work.data());
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = 0; l < count; ++l) {
        const std::size_t at = (first + l) * apart + j * step;
        field.re[at] = out[j * kElement + l];
        field.im[at] = out[j * kElement + kBatch + l];
      }
    }
  });
}

void transform(Field& field, const ScreenShape& shape, Executor& executor) {
  transform_lines(field, shape.columns, 1, shape.rows, shape.columns, executor);
  transform_lines(field, shape.rows, shape.columns, shape.columns, 1, executor);
}

/// Covariances of all nodes with the first one, around the torus the short way.
void fill_covariances(Field& field, const ScreenShape& shape, Executor& executor) {
  const auto side = [&](std::size_t i, std::size_t n) {
    return shape.cell_m * static_cast<double>(std::min(i, n - i));
  };
  const double longest =
      std::hypot(side(shape.columns / 2, shape.columns), side(shape.rows / 2, shape.rows));
  std::vector<double> distances(kCurveKnots), rest(kCurveKnots);
  for (std::size_t i = 0; i < kCurveKnots; ++i) {
    const double share = static_cast<double>(i) / (kCurveKnots - 1);
    distances[i] = shape.cell_m * std::pow(longest / shape.cell_m, share);
    rest[i] = 1 - turbulence_covariance(distances[i], shape.outer_m);
  }
  const LogCurve curve(distances, rest);
  executor.run(shape.rows, [&](std::size_t row) {
    const double y = side(row, shape.rows);
    for (std::size_t column = 0; column < shape.columns; ++column) {
      const double distance = std::hypot(side(column, shape.columns), y);
      field.re[row * shape.columns + column] =
          static_cast<Real>(distance > 0 ? 1 - curve(distance) : 1);
    }
  });
}

/// Of the four nodes around a place, `share` of a cell behind the second: through the nodes, with
/// their slopes (Catmull & Rom). Straight lines would lose three times as much of what is smaller
/// than some cells.
void cubic_weights(double share, double* out) {
  const double square = share * share, cube = square * share;
  out[0] = (-cube + 2 * square - share) / 2;
  out[1] = (3 * cube - 5 * square + 2) / 2;
  out[2] = (-3 * cube + 4 * square + share) / 2;
  out[3] = (cube - square) / 2;
}

}  // namespace

double turbulence_covariance(double distance_m, double outer_m) {
  const double z = 2 * std::numbers::pi * distance_m / outer_m;
  if (z < 1e-12) return 1;
  if (z > 600) return 0;
  return std::pow(2.0, 1 - kOrder) / std::tgamma(kOrder) * std::pow(z, kOrder) *
         std::cyl_bessel_k(kOrder, z);
}

std::size_t screen_length(double cells) noexcept {
  return fft::good_length(static_cast<std::size_t>(std::ceil(cells)));
}

TurbulentScreen::TurbulentScreen(const ScreenShape& shape, StreamName name, Executor& executor)
    : shape_(shape) {
  const std::size_t nodes = shape.columns * shape.rows;
  Field field{std::vector<Real>(nodes, 0), std::vector<Real>(nodes, 0)};
  fill_covariances(field, shape, executor);
  transform(field, shape, executor);
  double below = 0, above = 0;
  for (const Real value : field.re) (value < 0 ? below : above) += std::fabs(double{value});
  lost_ = below / above;
  const double norm = 1 / static_cast<double>(nodes);
  executor.run(shape.rows, [&](std::size_t row) {
    StreamName own = name;
    own.component += row;
    std::vector<double> drawn(2 * shape.columns);
    fill_gaussian(own.key(), {1, 0}, drawn);
    for (std::size_t column = 0; column < shape.columns; ++column) {
      const std::size_t at = row * shape.columns + column;
      const double width = std::sqrt(std::max(0.0, norm * static_cast<double>(field.re[at])));
      field.re[at] = static_cast<Real>(width * drawn[2 * column]);
      field.im[at] = static_cast<Real>(width * drawn[2 * column + 1]);
    }
  });
  transform(field, shape, executor);
  values_ = std::move(field.re);
}

double TurbulentScreen::at(double x, double y) const noexcept {
  const double column = x / shape_.cell_m, row = y / shape_.cell_m;
  const double c = std::floor(column), r = std::floor(row);
  double right[4], down[4];
  cubic_weights(column - c, right);
  cubic_weights(row - r, down);
  const auto wrapped = [](double whole, std::size_t n) {
    const auto size = static_cast<double>(n);
    return static_cast<std::size_t>(whole - size * std::floor(whole / size));
  };
  std::size_t columns[4] = {wrapped(c - 1, shape_.columns)}, line = wrapped(r - 1, shape_.rows);
  for (std::size_t k = 1; k < 4; ++k) {
    columns[k] = columns[k - 1] + 1 < shape_.columns ? columns[k - 1] + 1 : 0;
  }
  double sum = 0;
  for (std::size_t l = 0; l < 4; ++l) {
    const float* const values = values_.data() + line * shape_.columns;
    double own = 0;
    for (std::size_t k = 0; k < 4; ++k) own += right[k] * static_cast<double>(values[columns[k]]);
    sum += down[l] * own;
    line = line + 1 < shape_.rows ? line + 1 : 0;
  }
  return sum;
}

}  // namespace skyloom
