// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/ray_pair.hpp"

#include <algorithm>
#include <cmath>

#include "loom/simd/isa_tables.hpp"

namespace tomoloom {

LOOM_ISA_TABLES(RayKernels<float>, kRayFloat, float_ray_kernels)
LOOM_ISA_TABLES(RayKernels<double>, kRayDouble, double_ray_kernels)

template <>
const RayKernels<float>& ray_kernels<float>(Isa isa) {
  return float_ray_kernels(isa);
}
template <>
const RayKernels<double>& ray_kernels<double>(Isa isa) {
  return double_ray_kernels(isa);
}

namespace {

/// Lines, or rows, that a task works on side by side: each row of the slice is read from memory
/// once for so many angles, each line once for so many rows, and those that are written stay in the
/// second-level cache (16 of 1024 elements are 2 MB).
constexpr std::size_t kLinesPerTask = 16, kSliceRowsPerRayTask = 16;

/// Where a row of pixels casts its shadow.
template <class Real>
struct Shadows {
  explicit Shadows(std::size_t pixels) : bin(pixels), weight(kShadowBins * pixels) {}
  [[nodiscard]] ShadowTable<Real> table() const {
    return {
        .pixels = bin.size(), .columns = bin.size(), .bin = bin.data(), .weight = weight.data()};
  }
  std::vector<std::int32_t> bin;
  std::vector<Real> weight;
};

}  // namespace

template <class Real>
RayPair<Real>::RayPair(const Geometry& geometry, Isa isa)
    : geometry_(geometry), kernels_(ray_kernels<Real>(isa)) {
  for (const double theta : geometry.theta) {
    cos_.push_back(std::cos(theta));
    sin_.push_back(std::sin(theta));
  }
}

template <class Real>
RowShadow RayPair<Real>::shadow(std::size_t angle, std::size_t row) const {
  const double c = cos_[angle], s = sin_[angle];
  const double middle = (static_cast<double>(columns()) - 1) / 2;
  const double v = middle - static_cast<double>(row);
  return {.first = geometry_.centre - middle * c + v * s,
          .step = c,
          .half_base = (std::abs(c) + std::abs(s)) / 2,
          .half_top = std::abs(std::abs(c) - std::abs(s)) / 2};
}

template <class Real>
void RayPair<Real>::cast(std::size_t angle, std::size_t row, std::vector<std::int32_t>& bin,
                         std::vector<Real>& weight) const {
  kernels_.cast(shadow(angle, row), columns(), bin.data(), weight.data());
  if (geometry_.weight.empty()) return;
  const auto scale = static_cast<Real>(geometry_.weight[angle]);
  for (Real& w : weight) w *= scale;
}

template <class Real>
void RayPair<Real>::project(const Real* slice, Real* sinogram, Executor& executor) const {
  const std::size_t line = columns() * kRaySlices<Real>;
  executor.run((angles() + kLinesPerTask - 1) / kLinesPerTask, [&](std::size_t task) {
    const std::size_t begin = task * kLinesPerTask, end = std::min(angles(), begin + kLinesPerTask);
    std::fill(sinogram + begin * line, sinogram + end * line, Real(0));
    Shadows<Real> shadows(columns());
    for (std::size_t row = 0; row < columns(); ++row) {
      for (std::size_t a = begin; a < end; ++a) {
        cast(a, row, shadows.bin, shadows.weight);
        kernels_.spread(shadows.table(), slice + row * line, sinogram + a * line);
      }
    }
  });
}

template <class Real>
void RayPair<Real>::back_project(const Real* sinogram, Real* slice, Executor& executor) const {
  const std::size_t line = columns() * kRaySlices<Real>;
  const std::size_t tasks = (columns() + kSliceRowsPerRayTask - 1) / kSliceRowsPerRayTask;
  executor.run(tasks, [&](std::size_t task) {
    const std::size_t begin = task * kSliceRowsPerRayTask;
    const std::size_t end = std::min(columns(), begin + kSliceRowsPerRayTask);
    std::fill(slice + begin * line, slice + end * line, Real(0));
    Shadows<Real> shadows(columns());
    for (std::size_t a = 0; a < angles(); ++a) {
      for (std::size_t row = begin; row < end; ++row) {
        cast(a, row, shadows.bin, shadows.weight);
        kernels_.collect(shadows.table(), sinogram + a * line, slice + row * line);
      }
    }
  });
}

template class RayPair<float>;
template class RayPair<double>;

}  // namespace tomoloom
