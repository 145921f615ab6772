// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/shadow_convolution.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tomoloom/reconstruct/spread_kernel.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kRowsPerTransformTask = 8, kColumnsPerTransformTask = 4;

/// Of the grid that overlaps are summed on: 1e-11 of the largest.
constexpr int kOverlapWidth = 14;
constexpr double kOverlapFiner = 1.5;

std::size_t overlap_grid(std::size_t columns) {
  return fft::good_length(static_cast<std::size_t>(
      std::ceil(kOverlapFiner * static_cast<double>(2 * columns)) + 2 * kOverlapWidth));
}

/// Elements from row to row: an odd number, or a column's elements would all lie in the same few
/// places of the cache.
std::size_t odd(std::size_t length) { return length | 1; }

double sinc(double x) {
  const double t = std::numbers::pi * x;
  return std::abs(t) < 1e-8 ? 1 : std::sin(t) / t;
}

std::size_t plane_bytes(std::size_t n) {
  return n * (3 * n + 2 * fft::kBatch<double>)*sizeof(double);
}

/// A plane of n x n numbers, the same mirrored at its first, becomes its transform, which is real.
void transform_even(std::vector<double>& plane, std::size_t n, Isa isa) {
  constexpr std::size_t kSide = fft::kBatch<double>, kNumbers = fft::kElement<double>;
  const std::size_t blocks = (n + kSide - 1) / kSide;  // of columns
  const fft::Plan<double> plan(n, fft::Sign::kMinus, isa);
  std::vector<double> in(n * kNumbers, 0), work(plan.work_size());
  std::vector<double> rows(n * blocks * kNumbers, 0);  // [row][block] elements
  for (std::size_t first = 0; first < n; first += kSide) {
    const std::size_t count = std::min(kSide, n - first);
    for (std::size_t l = 0; l < count; ++l) {
      for (std::size_t i = 0; i < n; ++i) in[i * kNumbers + l] = plane[(first + l) * n + i];
    }
    const double* const out = plan.run(in.data(), 1, n, work.data());
    for (std::size_t l = 0; l < count; ++l) {
      double* const row = rows.data() + (first + l) * blocks * kNumbers;
      for (std::size_t k = 0; k < n; ++k) {
        double* const to = row + k / kSide * kNumbers + k % kSide;
        to[0] = out[k * kNumbers + l];
        to[kSide] = out[k * kNumbers + kSide + l];
      }
    }
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    const double* const out = plan.run(rows.data() + block * kNumbers, blocks, n, work.data());
    for (std::size_t k = block * kSide; k < std::min(n, (block + 1) * kSide); ++k) {
      for (std::size_t j = 0; j < n; ++j) plane[j * n + k] = out[j * kNumbers + k % kSide];
    }
  }
}

/// The most that the entries of one pixel with all n x n pixels are together, signs aside: no
/// eigenvalue is above it, and it is half of what the transform's largest value tells.
double most_of_a_pixel(std::vector<double> overlaps, std::size_t n) {
  const std::size_t line = 2 * n - 1;
  // sums of all above and on the left, then those of n x n at every place
  for (double& each : overlaps) each = std::abs(each);
  for (std::size_t i = 0; i < overlaps.size(); ++i) {
    if (i % line > 0) overlaps[i] += overlaps[i - 1];
  }
  for (std::size_t i = line; i < overlaps.size(); ++i) overlaps[i] += overlaps[i - line];
  const auto before = [&](std::size_t row, std::size_t column) {
    return row == 0 || column == 0 ? 0 : overlaps[(row - 1) * line + column - 1];
  };
  double most = 0;
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      most = std::max(most, before(row + n, column + n) - before(row, column + n) -
                                before(row + n, column) + before(row, column));
    }
  }
  return most;
}

/// Places on a closed line of `n` points, and the kernel's weights there.
struct Points {
  std::size_t at[kOverlapWidth];
  double weight[kOverlapWidth];

  Points(double middle, std::size_t n, const SpreadKernel& kernel) {
    const double from = std::ceil(middle - kOverlapWidth / 2.0);
    for (int k = 0; k < kOverlapWidth; ++k) {
      const auto place = static_cast<long>(from) + k, all = static_cast<long>(n);
      at[k] = static_cast<std::size_t>((place % all + all) % all);
      weight[k] = kernel(from + k - middle);
    }
  }
};

/// Every frequency of every angle, on its grid.
std::vector<double> spread_squares(const Geometry& geometry, std::size_t grid,
                                   const SpreadKernel& kernel) {
  const std::size_t padded = padded_line(geometry.columns);
  const double step = 1 / static_cast<double>(padded);
  std::vector<double> plane(grid * grid, 0);
  for (std::size_t a = 0; a < geometry.theta.size(); ++a) {
    const double theta = geometry.theta[a];
    const double weight = (geometry.weight.empty() ? 1 : geometry.weight[a]) * step;
    const double c = std::cos(theta), s = -std::sin(theta);  // of columns and rows
    for (std::size_t j = 0; j < padded / 2; ++j) {
      const double x = static_cast<double>(j) * step, h = shadow_response(x, theta);
      for (const double side : {1.0, -1.0}) {
        if (j == 0 && side < 0) continue;
        const double far = side * x * static_cast<double>(grid);
        const Points column(far * c, grid, kernel), row(far * s, grid, kernel);
        for (int q = 0; q < kOverlapWidth; ++q) {
          double* const line = plane.data() + row.at[q] * grid;
          const double value = weight * h * h * row.weight[q];
          for (int p = 0; p < kOverlapWidth; ++p) line[column.at[p]] += value * column.weight[p];
        }
      }
    }
  }
  return plane;
}

}  // namespace

double shadow_response(double x, double theta) {
  return sinc(x) * sinc(x * std::cos(theta)) * sinc(x * std::sin(theta));
}

GridPlan plan_seen(const Geometry& geometry, Executor& executor) {
  const auto padded = static_cast<double>(padded_line(geometry.columns));
  const auto size = [&](std::size_t a, std::size_t j) {
    const double weight = geometry.weight.empty() ? 1 : geometry.weight[a];
    return weight * shadow_response(static_cast<double>(j) / padded, geometry.theta[a]);
  };
  return plan_radial(geometry, {.width = 8, .oversampling = 2}, size, executor);
}

std::vector<double> shadow_overlaps(const Geometry& geometry, Isa isa) {
  const std::size_t n = geometry.columns, line = 2 * n - 1, grid = overlap_grid(n);
  const SpreadKernel kernel(kOverlapWidth, static_cast<double>(grid) / static_cast<double>(line));
  std::vector<double> plane = spread_squares(geometry, grid, kernel);
  transform_even(plane, grid, isa);
  std::vector<double> scale(n), overlaps(line * line);
  for (std::size_t i = 0; i < n; ++i) {
    scale[i] = 1 / kernel.transform(static_cast<double>(i) / static_cast<double>(grid));
  }
  const auto away = [&](std::size_t i) { return i < n ? n - 1 - i : i - (n - 1); };
  const auto place = [&](std::size_t i) { return (i + grid - (n - 1)) % grid; };
  for (std::size_t row = 0; row < line; ++row) {
    for (std::size_t column = 0; column < line; ++column) {
      overlaps[row * line + column] =
          plane[place(row) * grid + place(column)] * scale[away(row)] * scale[away(column)];
    }
  }
  return overlaps;
}

template <class Real>
ShadowConvolution<Real>::ShadowConvolution(const Geometry& geometry, Isa isa)
    : columns_(geometry.columns),
      forward_(fft::good_length(2 * geometry.columns), fft::Sign::kMinus, isa),
      back_(forward_.length(), fft::Sign::kPlus, isa),
      stride_(odd(forward_.length())),
      response_(forward_.length() * forward_.length()) {
  const std::size_t n = forward_.length(), line = 2 * columns_ - 1;
  std::vector<double> plane(n * n, 0);
  {
    const std::vector<double> overlaps = shadow_overlaps(geometry, isa);
    const auto place = [&](std::size_t i) { return (i + n - (columns_ - 1)) % n; };
    for (std::size_t row = 0; row < line; ++row) {
      for (std::size_t column = 0; column < line; ++column) {
        plane[place(row) * n + place(column)] = overlaps[row * line + column];
      }
    }
    bound_ = most_of_a_pixel(overlaps, columns_);
  }
  // in double: frequencies that angles see little of have responses far below those of the middle
  transform_even(plane, n, isa);
  const double scale = 1 / static_cast<double>(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) {
      response_[k * n + j] = static_cast<Real>(plane[j * n + k] * scale);
    }
  }
  half_ = Buffer<Real>(columns_ * stride_ * kRaySlices<Real>);
}

template <class Real>
std::size_t ShadowConvolution<Real>::bytes(std::size_t columns) noexcept {
  const std::size_t n = fft::good_length(2 * columns);
  const std::size_t overlaps = 2 * 4 * columns * columns * sizeof(double);
  const std::size_t before = std::max(plane_bytes(overlap_grid(columns)), plane_bytes(n)) +
                             overlaps + n * n * sizeof(double);
  const std::size_t half = columns * odd(n) * kRaySlices<Real> * sizeof(Real);
  return n * n * sizeof(Real) + std::max(before, half);
}

template <class Real>
void ShadowConvolution<Real>::apply(const Real* slice, Real* out, Executor& executor) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const std::size_t n = forward_.length(), line = columns_ * kSlices, row = stride_ * kSlices;
  const std::size_t row_tasks = (columns_ + kRowsPerTransformTask - 1) / kRowsPerTransformTask;
  const auto each_row = [&](const fft::Plan<Real>& plan, const auto& use) {
    executor.run(row_tasks, [&](std::size_t task) {
      Buffer<Real> work(plan.work_size());
      const std::size_t end = std::min(columns_, (task + 1) * kRowsPerTransformTask);
      for (std::size_t r = task * kRowsPerTransformTask; r < end; ++r) use(r, work.data());
    });
  };
  each_row(forward_, [&](std::size_t r, Real* work) {
    std::copy_n(forward_.run(slice + r * line, 1, columns_, work), n * kSlices,
                half_.data() + r * row);
  });
  const std::size_t tasks = (n + kColumnsPerTransformTask - 1) / kColumnsPerTransformTask;
  executor.run(tasks, [&](std::size_t task) {
    Buffer<Real> work(forward_.work_size()), more(back_.work_size());
    const std::size_t end = std::min(n, (task + 1) * kColumnsPerTransformTask);
    for (std::size_t k = task * kColumnsPerTransformTask; k < end; ++k) {
      Real* const column = half_.data() + k * kSlices;
      Real* const spectrum = forward_.run(column, stride_, columns_, work.data());
      for (std::size_t j = 0; j < n; ++j) {
        const Real w = response_[k * n + j];
        for (std::size_t l = 0; l < kSlices; ++l) spectrum[j * kSlices + l] *= w;
      }
      const Real* const back = back_.run(spectrum, 1, n, more.data());
      for (std::size_t r = 0; r < columns_; ++r) {
        std::copy_n(back + r * kSlices, kSlices, column + r * row);
      }
    }
  });
  each_row(back_, [&](std::size_t r, Real* work) {
    std::copy_n(back_.run(half_.data() + r * row, 1, n, work), line, out + r * line);
  });
}

template class ShadowConvolution<float>;
template class ShadowConvolution<double>;

}  // namespace tomoloom
