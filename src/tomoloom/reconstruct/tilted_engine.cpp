// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/tilted_engine.hpp"

#include <algorithm>
#include <cmath>

#include "tomoloom/reconstruct/angles.hpp"
#include "tomoloom/reconstruct/grid_plan.hpp"
#include "tomoloom/reconstruct/ray_groups.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kPointsOfPixel = 4;
/// Rows of a slice that a task works on: a line's points are read once for so many.
constexpr std::size_t kTiltedRowsPerTask = 8;

/// Rows of lines, a group and what is beside it.
std::size_t line_rows(const Geometry& geometry) noexcept {
  const std::size_t rows = kSlicesPerGroup + 2 * rows_beside(geometry);
  return (rows + kSlicesPerGroup - 1) / kSlicesPerGroup * kSlicesPerGroup;
}

std::size_t points(const Geometry& geometry) noexcept { return kPointsOfPixel * geometry.columns; }

}  // namespace

TiltedEngine::TiltedEngine(const Geometry& geometry, const FilterChoice& filter, Isa isa)
    : geometry_(geometry),
      beside_(rows_beside(geometry)),
      rows_(line_rows(geometry)),
      share_(angle_shares(geometry)),
      forward_(padded_line(geometry.columns), fft::Sign::kMinus, isa),
      back_(kPointsOfPixel * forward_.length(), fft::Sign::kPlus, isa),
      kernels_(ray_kernels<float>(isa)),
      response_(filter, bandlimited_ramp(forward_.length()), geometry.theta.size()),
      lines_(geometry.theta.size() * points(geometry) * rows_),
      slice_(geometry.columns * geometry.columns * kRaySlices<float>) {
  const double scale = std::cos(geometry.tilt) / static_cast<double>(forward_.length());
  for (double& share : share_) share *= scale;
}

std::size_t TiltedEngine::group_bytes(const Geometry& geometry) noexcept {
  const std::size_t lines = geometry.theta.size() * points(geometry) * line_rows(geometry);
  const std::size_t slice = geometry.columns * geometry.columns * kRaySlices<float>;
  return (lines + slice) * sizeof(float) + 2 * Buffer<float>::kHugePage;
}

std::size_t TiltedEngine::thread_bytes(const Geometry& geometry) noexcept {
  const std::size_t line =
      geometry.columns + (2 + 3 * kPointsOfPixel) * padded_line(geometry.columns);
  return line * kRaySlices<float> * sizeof(float) + 4 * Buffer<float>::kHugePage;
}

/// Rows by groups, each group's side by side; two of them share a complex transform, which a filter
/// that is real and even keeps apart.
void TiltedEngine::filter(const StackView& projections, std::size_t angle) {
  constexpr std::size_t kRows = kRaySlices<float>;
  const std::size_t columns = geometry_.columns, n = forward_.length(), m = back_.length();
  Buffer<float> line(columns * kRows), work(forward_.work_size()), fine(m * kRows),
      more(back_.work_size());
  const auto first = -static_cast<long>(projections.before);
  const auto last = static_cast<long>(projections.slices + projections.after) - 1;
  for (std::size_t group = 0; group < rows_; group += kRows) {
    for (std::size_t l = 0; l < kRows; ++l) {
      const long row =
          std::clamp(static_cast<long>(group + l) - static_cast<long>(beside_), first, last);
      const float* const from = projections.data + angle * projections.angle_stride +
                                row * static_cast<long>(projections.slice_stride);
      for (std::size_t x = 0; x < columns; ++x) line[x * kRows + l] = from[x];
    }
    const float* const spectrum = forward_.run(line.data(), 1, columns, work.data());
    std::fill_n(fine.data(), fine.size(), 0.0F);
    for (std::size_t j = 0; j < n / 2; ++j) {
      const auto w = static_cast<float>(share_[angle] * response_.at(angle, j));
      const std::size_t below = (n - j) % n, to = (m - j) % m;
      for (std::size_t l = 0; l < kRows; ++l) {
        fine[j * kRows + l] = w * spectrum[j * kRows + l];
        fine[to * kRows + l] = w * spectrum[below * kRows + l];
      }
    }
    const float* const filtered = back_.run(fine.data(), 1, m, more.data());
    float* const out = lines_.data() + angle * points(geometry_) * rows_ + group;
    for (std::size_t p = 0; p < points(geometry_); ++p) {
      std::copy_n(filtered + p * kRows, kRows, out + p * rows_);
    }
  }
}

void TiltedEngine::reconstruct(const StackView& projections, const VolumeView& slices,
                               Executor& executor) {
  const std::size_t n = geometry_.columns, angles = geometry_.theta.size();
  executor.run(angles, [&](std::size_t a) { filter(projections, a); });
  const double middle = (static_cast<double>(n) - 1) / 2, sine = std::sin(geometry_.tilt);
  executor.run((n + kTiltedRowsPerTask - 1) / kTiltedRowsPerTask, [&](std::size_t task) {
    const std::size_t begin = task * kTiltedRowsPerTask;
    const std::size_t end = std::min(n, begin + kTiltedRowsPerTask), row = n * kRaySlices<float>;
    std::fill(slice_.data() + begin * row, slice_.data() + end * row, 0.0F);
    for (std::size_t a = 0; a < angles; ++a) {
      const double c = std::cos(geometry_.theta[a]), s = std::sin(geometry_.theta[a]);
      const RowLines<float> lines{.points = kPointsOfPixel * (n - 1) + 1,
                                  .rows = rows_,
                                  .data = lines_.data() + a * points(geometry_) * rows_};
      for (std::size_t r = begin; r < end; ++r) {
        const double v = middle - static_cast<double>(r);
        kernels_.collect_between(lines,
                                 {.first = kPointsOfPixel * (geometry_.centre - middle * c + v * s),
                                  .step = kPointsOfPixel * c,
                                  .row = static_cast<double>(beside_) + sine * (middle * s + v * c),
                                  .row_step = -sine * s},
                                 n, slice_.data() + r * row);
      }
    }
  });
  rays::scatter(slice_.data(), 0, projections.slices, n, slices, executor);
}

}  // namespace tomoloom
