// SPDX-License-Identifier: BSD-3-Clause
// What tests of the engines share: scans of phantoms, and dense solutions. For tests alone.
#pragma once

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/ray_engine.hpp"
#include "tomoloom/simulate/phantom.hpp"

namespace tomoloom {

inline Geometry evenly(std::size_t columns, std::size_t angles) {
  Geometry geometry{
      .columns = columns, .theta = {}, .centre = (static_cast<double>(columns) - 1) / 2 + 0.3};
  for (std::size_t a = 0; a < angles; ++a) {
    geometry.theta.push_back(static_cast<double>(a) * std::numbers::pi /
                             static_cast<double>(angles));
  }
  return geometry;
}

/// Over a whole turn about an axis that is tilted along the beam.
inline Geometry whole_turn(std::size_t columns, std::size_t angles, double tilt_deg) {
  Geometry geometry = evenly(columns, angles);
  for (double& theta : geometry.theta) theta *= 2;
  geometry.tilt = tilt_deg * std::numbers::pi / 180;
  return geometry;
}

/// What a detector of some rows sees: [angle][row][column].
inline std::vector<float> rows_seen(const Phantom& body, const Geometry& geometry,
                                    std::size_t rows) {
  const Sight sight{
      .columns = geometry.columns, .rows = rows, .centre = geometry.centre, .tilt = geometry.tilt};
  std::vector<float> out;
  std::vector<double> line(geometry.columns);
  for (const double theta : geometry.theta) {
    for (std::size_t r = 0; r < rows; ++r) {
      project_row(body, sight, r, theta, line);
      out.insert(out.end(), line.begin(), line.end());
    }
  }
  return out;
}

/// A cylinder, and balls at some distance from the axis, where a tilt tells most.
inline Phantom cylinder_with_balls() {
  Phantom body{{1, .1, -.05, 0, .8, .7, 100, 20}};
  for (int k = 0; k < 6; ++k) {
    body.push_back({.5, .6 * std::cos(k), .6 * std::sin(k), .03 * k - .07, .09, .09, .09, 0});
  }
  return body;
}

/// What a scan of this geometry should give of a phantom.
inline std::vector<float> truth_of(const Phantom& body, const Geometry& geometry) {
  return true_slice(body, {.columns = geometry.columns, .rows = 1, .centre = geometry.centre}, 0);
}

/// A slice of a phantom, reconstructed as slice `place` of a group.
template <class Engine>
std::vector<float> slice_by(const Phantom& body, const Geometry& geometry, const RayChoice& choice,
                            Executor& executor, std::size_t place = 0) {
  const Sight sight{.columns = geometry.columns, .rows = 1, .centre = geometry.centre};
  const std::size_t n = geometry.columns, angles = geometry.theta.size();
  std::vector<float> sinograms(angles * n * (place + 1), 0);
  std::vector<double> line(n);
  for (std::size_t a = 0; a < angles; ++a) {
    project_row(body, sight, 0, geometry.theta[a], line);
    for (std::size_t x = 0; x < n; ++x) {
      sinograms[(place * angles + a) * n + x] = static_cast<float>(line[x]);
    }
  }
  Engine engine(geometry, choice);
  std::vector<float> out((place + 1) * n * n, NAN);
  engine.reconstruct({.data = sinograms.data(),
                      .slices = place + 1,
                      .angle_stride = n,
                      .slice_stride = angles * n},
                     {.data = out.data(), .slice_stride = n * n, .row_stride = n}, executor);
  return {out.end() - static_cast<std::ptrdiff_t>(n * n), out.end()};
}

/// Slices [first, first + count) of what a detector of so many rows saw.
template <class Engine>
std::vector<float> slices_of_rows(Engine&& engine, const std::vector<float>& projections,
                                  std::size_t columns, std::size_t rows, std::size_t first,
                                  std::size_t count, Executor& executor) {
  const std::size_t slice = columns * columns;
  std::vector<float> out(count * slice, NAN);
  engine.reconstruct({.data = projections.data() + first * columns,
                      .slices = count,
                      .angle_stride = rows * columns,
                      .slice_stride = columns,
                      .before = first,
                      .after = rows - first - count},
                     {.data = out.data(), .slice_stride = slice, .row_stride = columns}, executor);
  return out;
}

inline double root_mean_square(const std::vector<float>& got, const std::vector<float>& want,
                               std::size_t n) {
  double sum = 0, count = 0;
  const double middle = (static_cast<double>(n) - 1) / 2;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double u = static_cast<double>(i % n) - middle, v = static_cast<double>(i / n) - middle;
    if (std::hypot(u, v) > 0.475 * static_cast<double>(n)) continue;
    const double d = static_cast<double>(got[i]) - static_cast<double>(want[i]);
    sum += d * d;
    ++count;
  }
  return std::sqrt(sum / count);
}

/// The mean squares by which slices from `first` on are off, summed; `sight`: of the scan.
inline double squares_off(const std::vector<float>& slices, const Phantom& body, const Sight& sight,
                          std::size_t first) {
  const std::size_t size = sight.columns * sight.columns;
  double sum = 0;
  for (std::size_t s = 0; s * size < slices.size(); ++s) {
    const auto begin = slices.begin() + static_cast<std::ptrdiff_t>(s * size);
    const double one = root_mean_square({begin, begin + static_cast<std::ptrdiff_t>(size)},
                                        true_slice(body, sight, first + s), sight.columns);
    sum += one * one;
  }
  return sum;
}

/// min |A x - b| + nothing else, by the normal equations and Gauss with pivots.
inline std::vector<double> dense_solution(std::vector<std::vector<double>> matrix,
                                          std::vector<double> right) {
  const std::size_t n = right.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(matrix[i][k]) > std::abs(matrix[pivot][k])) pivot = i;
    }
    std::swap(matrix[k], matrix[pivot]);
    std::swap(right[k], right[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double f = matrix[i][k] / matrix[k][k];
      for (std::size_t j = k; j < n; ++j) matrix[i][j] -= f * matrix[k][j];
      right[i] -= f * right[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) right[k] -= matrix[k][j] * right[j];
    right[k] /= matrix[k][k];
  }
  return right;
}

}  // namespace tomoloom
