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

/// A row of pixels of a stack, each with all of its slices side by side, and with those behind
/// either end.
template <class Real>
class PixelStacks {
 public:
  PixelStacks(std::size_t pixels, const SliceStack& stack)
      : pixels_(pixels),
        beside_(stack.beside),
        slices_(stack.groups * kRaySlices<Real>),
        data_(pixels * stride()) {}

  /// `row`: elements of one group of the stack.
  void set(std::size_t group, const Real* row) {
    Real* to = data_.data() + beside_ + group * kRaySlices<Real>;
    for (std::size_t i = 0; i < pixels_; ++i, to += stride(), row += kRaySlices<Real>) {
      std::copy_n(row, kRaySlices<Real>, to);
    }
  }
  void close() {
    for (Real* one = data_.data(); one != data_.data() + pixels_ * stride(); one += stride()) {
      for (std::size_t i = 0; i < beside_; ++i) {
        one[beside_ - 1 - i] = one[beside_ + slices_ - 1 - i];
        one[beside_ + slices_ + i] = one[beside_ + i];
      }
    }
  }
  [[nodiscard]] RowLines<Real> lines() const {
    return {.points = pixels_, .rows = stride(), .data = data_.data()};
  }
  [[nodiscard]] static std::size_t bytes(std::size_t pixels, const SliceStack& stack) noexcept {
    return pixels * (stack.groups * kRaySlices<Real> + 2 * stack.beside) * sizeof(Real);
  }

 private:
  [[nodiscard]] std::size_t stride() const { return slices_ + 2 * beside_; }
  std::size_t pixels_, beside_, slices_;
  std::vector<Real> data_;
};

}  // namespace

SliceStack slice_stack(const Geometry& geometry, std::size_t slices) noexcept {
  const std::size_t beside = rows_beside(geometry);
  return {.beside = beside, .groups = (slices + 4 * beside + slices - 1) / slices};
}

RowShadow row_shadow(std::size_t size, double centre, double cosine, double sine,
                     std::size_t row) noexcept {
  const double middle = (static_cast<double>(size) - 1) / 2;
  const double v = middle - static_cast<double>(row);
  return {.first = centre - middle * cosine + v * sine,
          .step = cosine,
          .half_base = (std::abs(cosine) + std::abs(sine)) / 2,
          .half_top = std::abs(std::abs(cosine) - std::abs(sine)) / 2};
}

template <class Real>
std::size_t RayPair<Real>::thread_bytes(const Geometry& geometry) noexcept {
  if (geometry.tilt == 0) return 0;
  const std::size_t line = geometry.columns * kRaySlices<Real> * sizeof(Real);
  return PixelStacks<Real>::bytes(geometry.columns, slice_stack(geometry, kRaySlices<Real>)) + line;
}

template <class Real>
RayPair<Real>::RayPair(const Geometry& geometry, Isa isa)
    : geometry_(geometry),
      stack_(slice_stack(geometry, kRaySlices<Real>)),
      kernels_(ray_kernels<Real>(isa)) {
  for (const double theta : geometry.theta) {
    cos_.push_back(std::cos(theta));
    sin_.push_back(std::sin(theta));
  }
}

template <class Real>
RowShadow RayPair<Real>::shadow(std::size_t angle, std::size_t row) const {
  return row_shadow(columns(), geometry_.centre, cos_[angle], sin_[angle], row);
}

/// sign -1: where a row of the detector finds its slice, 1: where a slice finds the row.
template <class Real>
RowSlide RayPair<Real>::slide(std::size_t angle, std::size_t row, std::size_t group,
                              double sign) const {
  const double middle = (static_cast<double>(columns()) - 1) / 2;
  const double v = middle - static_cast<double>(row), down = sign * std::sin(geometry_.tilt);
  return {.first = static_cast<double>(stack_.beside + group * kRaySlices<Real>) +
                   down * (middle * sin_[angle] + v * cos_[angle]),
          .step = -down * sin_[angle],
          .scale = 1 / std::cos(geometry_.tilt)};
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
  if (geometry_.tilt != 0) return project_stack(slice, sinogram, executor);
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
  if (geometry_.tilt != 0) return back_project_stack(sinogram, slice, executor);
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

template <class Real>
void RayPair<Real>::project_stack(const Real* slice, Real* sinogram, Executor& executor) const {
  const std::size_t n = columns(), line = n * kRaySlices<Real>, all = line_size();
  executor.run((angles() + kLinesPerTask - 1) / kLinesPerTask, [&](std::size_t task) {
    const std::size_t begin = task * kLinesPerTask, end = std::min(angles(), begin + kLinesPerTask);
    std::fill(sinogram + begin * all, sinogram + end * all, Real(0));
    Shadows<Real> shadows(n);
    PixelStacks<Real> pixels(n, stack_);
    std::vector<Real> moved(line);
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t g = 0; g < stack_.groups; ++g) pixels.set(g, slice + (g * n + row) * line);
      pixels.close();
      for (std::size_t a = begin; a < end; ++a) {
        cast(a, row, shadows.bin, shadows.weight);
        for (std::size_t g = 0; g < stack_.groups; ++g) {
          std::fill(moved.begin(), moved.end(), Real(0));
          kernels_.slide(pixels.lines(), slide(a, row, g, -1), moved.data());
          kernels_.spread(shadows.table(), moved.data(), sinogram + a * all + g * line);
        }
      }
    }
  });
}

template <class Real>
void RayPair<Real>::back_project_stack(const Real* sinogram, Real* slice,
                                       Executor& executor) const {
  const std::size_t n = columns(), line = n * kRaySlices<Real>, all = line_size();
  executor.run((n + kSliceRowsPerRayTask - 1) / kSliceRowsPerRayTask, [&](std::size_t task) {
    const std::size_t begin = task * kSliceRowsPerRayTask;
    const std::size_t end = std::min(n, begin + kSliceRowsPerRayTask);
    for (std::size_t g = 0; g < stack_.groups; ++g) {
      std::fill(slice + (g * n + begin) * line, slice + (g * n + end) * line, Real(0));
    }
    Shadows<Real> shadows(n);
    PixelStacks<Real> pixels(n, stack_);
    std::vector<Real> met(line);
    for (std::size_t a = 0; a < angles(); ++a) {
      for (std::size_t row = begin; row < end; ++row) {
        cast(a, row, shadows.bin, shadows.weight);
        for (std::size_t g = 0; g < stack_.groups; ++g) {
          std::fill(met.begin(), met.end(), Real(0));
          kernels_.collect(shadows.table(), sinogram + a * all + g * line, met.data());
          pixels.set(g, met.data());
        }
        pixels.close();
        for (std::size_t g = 0; g < stack_.groups; ++g) {
          kernels_.slide(pixels.lines(), slide(a, row, g, 1), slice + (g * n + row) * line);
        }
      }
    }
  });
}

template class RayPair<float>;
template class RayPair<double>;

}  // namespace tomoloom
